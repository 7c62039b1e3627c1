import { describe, expect, test } from 'vitest'
import { bash, callsBash, hooks, read, toolResult, turn } from './kit.ts'

const node = `shell: ${process.execPath} ./hook.mjs`
/** A program in JavaScript that answers with what `answer` makes of its input. */
const answers = (answer: string) => ({
  'hook.mjs': `let text = ''
for await (const chunk of process.stdin) text += chunk
const input = JSON.parse(text)
console.log(JSON.stringify(${answer}))`,
})

describe('a shell hook', () => {
  test('gets the hook, the loop and the fields of the hook as JSON', async () => {
    const { root } = await turn(
      hooks({ beforeToolExecution: ['./hook.sh'] }),
      { 'hook.sh': 'cat > in.json' },
      { steps: callsBash() },
    )
    expect(JSON.parse(read(root, 'in.json'))).toEqual({
      hook: 'beforeToolExecution',
      loop: {
        iteration: 0,
        maxIterations: 25,
        sessionId: 's1',
        usage: { inputTokens: 10, outputTokens: 5 },
        resumed: false,
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: [{ type: 'tool-call', callId: 'c1', name: 'bash', args: { command: 'ls' } }] },
        ],
      },
      toolCall: { id: 'c1', name: 'bash', arguments: '{"command":"ls"}' },
    })
  })

  test.each([
    ['beforeLoopBegin', []],
    ['beforeModelCall', ['request']],
    ['onStreamChunk', ['chunk']],
    ['afterModelResponse', ['request']],
    ['beforeToolExecution', ['toolCall']],
    ['afterToolExecution', ['result', 'toolCall']],
    ['afterLoopIteration', []],
    ['afterLoopComplete', []],
    ['onError', ['error', 'phase']],
  ])('gets for %s besides the loop: %j', async (hook, fields) => {
    const fail = bash(() => {
      throw new Error('no disk')
    })
    const tools = hook === 'onError' ? [fail] : [bash()]
    const { root } = await turn(
      hooks({ [hook]: ['./hook.sh'] }),
      { 'hook.sh': 'cat > in.json' },
      { steps: callsBash(), tools },
    )
    const { hook: name, loop, ...own } = JSON.parse(read(root, 'in.json'))
    expect([name, Object.keys(own).sort()]).toEqual([hook, fields])
    expect(loop.sessionId).toBe('s1')
    if (hook === 'onError')
      expect(own).toEqual({ error: { name: 'Error', message: 'no disk' }, phase: 'tool_execution' })
  })

  test('that writes nothing, or {}, changes nothing', async () => {
    const files = { 'quiet.sh': 'cat > /dev/null', 'empty.sh': 'echo "{}"' }
    const { result, log } = await turn(hooks({ beforeModelCall: ['./quiet.sh', './empty.sh'] }), files)
    expect(result?.status).toBe('completed')
    expect(log).toEqual([])
  })

  test.each([
    ['true', 'stopped'],
    ['"enough"', 'enough'],
  ])('that answers {"stop": %s} ends the loop', async (stop, reason) => {
    const { result, model } = await turn(hooks({ beforeModelCall: ['./hook.sh'] }), {
      'hook.sh': `echo '{"stop": ${stop}}'`,
    })
    expect(result).toMatchObject({ status: 'stopped', reason })
    expect(model.calls).toBe(0)
  })

  test('that answers {"deny": why} refuses the tool', async () => {
    const files = { 'hook.sh': `echo '{"deny": "blocked by policy"}'` }
    const { result } = await turn(hooks({ beforeToolExecution: ['./hook.sh'] }), files, { steps: callsBash() })
    expect(result?.toolCalls[0]?.result).toMatchObject({ status: 'denied', content: 'blocked by policy' })
  })

  test('that denies where there is nothing to deny fails', async () => {
    const { result, log } = await turn(hooks({ beforeModelCall: ['./hook.sh'] }), {
      'hook.sh': `echo '{"deny": "no"}'`,
    })
    expect(result?.status).toBe('blocked')
    expect(log[0]?.message).toContain('Only beforeToolExecution can deny a call')
  })

  test('replaces the messages before the loop', async () => {
    const files = answers(`{ context: { messages: [...input.loop.messages, { role: 'user', content: 'and more' }] } }`)
    const { model } = await turn(hooks({ beforeLoopBegin: [node] }), files)
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(['Hi', 'and more'])
  })

  test('replaces the messages and the tools of a request', async () => {
    const files = answers(
      `{ context: { request: { messages: [{ role: 'user', content: 'Bye' }], tools: input.request.tools.filter((tool) => tool.name !== 'bash') } } }`,
    )
    const { model } = await turn(hooks({ beforeModelCall: [node] }), files)
    expect(model.requests[0]).toMatchObject({ messages: [{ role: 'user', content: 'Bye' }], tools: [] })
  })

  test('changes the result of a tool, which reaches the model', async () => {
    const files = answers(`{ context: { result: { content: input.result.content.toUpperCase(), isError: true } } }`)
    const { model, result } = await turn(hooks({ afterToolExecution: [node] }), files, { steps: callsBash() })
    expect(toolResult(model.requests[1]?.messages as never)).toBe('RAN')
    expect(result?.toolCalls[0]?.result.status).toBe('error')
  })

  test('that gives messages where they do not count is warned of', async () => {
    const { result, log } = await turn(hooks({ afterModelResponse: ['./hook.sh'] }), {
      'hook.sh': `echo '{"context":{"messages":[]}}'`,
    })
    expect(result?.status).toBe('completed')
    expect(log[0]?.message).toContain('returned context.messages, which only beforeLoopBegin reads')
  })

  test.each([
    ['{"context":{"toolCall":{"arguments":"{}"}}}', 'returned context.toolCall, which no hook reads'],
    ['{"context":{"request":{"model":"x"}}}', 'returned context.request.model, which no hook reads'],
    ['{"context":{"result":{"status":"ok"}}}', 'returned context.result.status, which no hook reads'],
    ['{"denny":"no"}', 'returned denny, which no hook reads'],
  ])('that gives what nobody reads is warned of: %s', async (answer, message) => {
    const { result, log } = await turn(
      hooks({ beforeToolExecution: ['./hook.sh'] }),
      { 'hook.sh': `echo '${answer}'` },
      { steps: callsBash() },
    )
    expect(result?.toolCalls[0]?.result.status).toBe('ok')
    expect(log.map(({ message }) => message).join()).toContain(message)
  })

  test('that gives back what it got, and more, is warned of nothing that it got', async () => {
    const { result, log } = await turn(hooks({ beforeModelCall: [node] }), answers('{ ...input, stop: true }'))
    expect([result?.status, log]).toEqual(['stopped', []])
  })

  test.each(['', ' \n'])('may begin its answer with a byte order mark', async (before) => {
    const files = { 'hook.sh': `printf '\\357\\273\\277${before}{"deny": "no"}'` }
    const { result } = await turn(hooks({ beforeToolExecution: ['./hook.sh'] }), files, { steps: callsBash() })
    expect(result?.toolCalls[0]?.result).toMatchObject({ status: 'denied', content: 'no' })
  })

  test('has its stderr in the log at debug level, line by line', async () => {
    const { log } = await turn(hooks({ afterLoopComplete: ['./hook.sh'] }), {
      'hook.sh': 'echo one >&2; printf two >&2',
    })
    expect(log).toEqual([
      { level: 'debug', message: 'afterLoopComplete[0] (./hook.sh): one' },
      { level: 'debug', message: 'afterLoopComplete[0] (./hook.sh): two' },
    ])
  })

  test('with a status other than 0 fails: later entries are skipped, the log has its stderr', async () => {
    const files = { 'hook.sh': 'echo no such policy >&2; exit 3', 'later.sh': 'touch later' }
    const { result, log, root } = await turn(hooks({ beforeToolExecution: ['./hook.sh', './later.sh'] }), files, {
      steps: callsBash(),
    })
    expect(result?.toolCalls[0]?.result.status).toBe('denied')
    expect(log.at(-1)?.message).toContain('"sh" ended with the status 3. It wrote: no such policy')
    expect(() => read(root, 'later')).toThrow('ENOENT')
  })

  test('gets bytes of a message as base64, and may give them back', async () => {
    const image = { type: 'image' as const, data: new Uint8Array([1, 2, 3]), mediaType: 'image/png' }
    const before =
      "(ctx) => { ctx.messages.push({ role: 'user', content: [{ type: 'image', data: Buffer.from([1, 2, 3]), mediaType: 'image/png' }] }) }"
    const files = answers('{ context: { messages: input.loop.messages } }')
    const { model } = await turn(hooks({ beforeLoopBegin: [before, node] }), files)
    expect(model.requests[0]?.messages[1]?.content).toEqual([{ ...image, data: 'AQID' }])
  })
})

describe('the command of a shell hook', () => {
  test('keeps quoted words together, and nothing else is special', async () => {
    const entry = `shell: ./args.sh 'two words' "a \\"" x"y z" $HOME *.sh ; '' && echo`
    const { root } = await turn(hooks({ afterLoopComplete: [entry.replace(' "a \\""', '')] }), {
      'args.sh': 'printf "[%s]" "$@" > args',
    })
    expect(read(root, 'args')).toBe('[two words][xy z][$HOME][*.sh][;][][&&][echo]')
  })

  test('never holds text of the model', async () => {
    const command = '$(touch owned); `touch owned` && touch owned "; touch owned'
    const { root } = await turn(
      hooks({ beforeToolExecution: ['./hook.sh', 'shell: sh hook.sh'] }),
      { 'hook.sh': 'cat > /dev/null' },
      { steps: callsBash(command) },
    )
    expect(() => read(root, 'owned')).toThrow('ENOENT')
  })

  test('runs in the folder of the config, with the basic variables and those that its entry names', async () => {
    const env = { PATH: process.env.PATH, HOME: '/home/x', OPENAI_API_KEY: 'sk-secret', TENANT: 'acme' }
    const files = { 'env.sh': 'pwd > pwd; env > env' }
    const { root } = await turn(
      hooks({ afterLoopComplete: [{ run: './env.sh', env: { TENANT: true, MODE: 'strict' } }] }),
      files,
      { env },
    )
    const got = read(root, 'env')
    expect(read(root, 'pwd').trim()).toBe(root)
    expect(got).toMatch(/^HOME=\/home\/x$/m)
    expect(got).toMatch(/^TENANT=acme$/m)
    expect(got).toMatch(/^MODE=strict$/m)
    expect(got).not.toContain('sk-secret')
  })

  test('passes variables on that a list names', async () => {
    const env = { PATH: process.env.PATH, TENANT: 'acme' }
    const { root } = await turn(
      hooks({ afterLoopComplete: [{ run: './env.sh', env: ['TENANT'] }] }),
      { 'env.sh': 'env > env' },
      { env },
    )
    expect(read(root, 'env')).toMatch(/^TENANT=acme$/m)
  })
})
