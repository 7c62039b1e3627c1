import { describe, expect, test } from 'vitest'
import type { HookName } from '../src/index.ts'
import { bash, callsBash, hooks, toolResult, turn } from './kit.ts'

/** An entry that notes the hook and some of its context in `globalThis.seen`. */
function note(hook: HookName, what = '0'): string {
  return `(ctx) => { (globalThis.seen ??= []).push(['${hook}', ${what}]) }`
}

function seen(): unknown[][] {
  const all = (globalThis as { seen?: unknown[][] }).seen ?? []
  delete (globalThis as { seen?: unknown[][] }).seen
  return all
}

describe('the hooks of a config', () => {
  test('fire in the order of the loop, each once at its place', async () => {
    const all: HookName[] = [
      'beforeLoopBegin',
      'beforeModelCall',
      'afterModelResponse',
      'beforeToolExecution',
      'afterToolExecution',
      'afterLoopIteration',
      'afterLoopComplete',
      'onError',
    ]
    const entries = Object.fromEntries(all.map((hook) => [hook, [note(hook, '(ctx.loop ?? ctx).iteration')]]))
    await turn(hooks(entries), {}, { steps: callsBash() })
    expect(seen()).toEqual([
      ['beforeLoopBegin', 0],
      ['beforeModelCall', 0],
      ['afterModelResponse', 0],
      ['beforeToolExecution', 0],
      ['afterToolExecution', 0],
      ['afterLoopIteration', 0],
      ['beforeModelCall', 1],
      ['afterModelResponse', 1],
      ['afterLoopIteration', 1],
      ['afterLoopComplete', 1],
    ])
  })

  test('of one name run in the order of the list, one after the other, the after-hooks too', async () => {
    const slow = "async () => { await new Promise(setImmediate); (globalThis.seen ??= []).push(['slow']) }"
    await turn(hooks({ afterModelResponse: [slow, note('afterModelResponse')] }))
    expect(seen().map(([name]) => name)).toEqual(['slow', 'afterModelResponse'])
  })

  test('get the loop: messages, iteration, maxIterations, sessionId, usage, signal', async () => {
    const yaml = hooks({
      afterLoopIteration: [note('afterLoopIteration', 'JSON.parse(JSON.stringify(ctx)), ctx.signal.aborted')],
    })
    await turn(`${yaml}  maxIterations: 7\n`)
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
    ]
    const usage = { inputTokens: 10, outputTokens: 5 }
    const loop = { messages, iteration: 0, maxIterations: 7, sessionId: 's1', usage, resumed: false }
    expect(seen()).toEqual([['afterLoopIteration', loop, false]])
  })

  test('get the request of a model call, and what was said is in the loop after it', async () => {
    const what = 'JSON.parse(JSON.stringify(ctx.request)), ctx.loop.messages.length'
    const yaml = hooks({
      beforeModelCall: [note('beforeModelCall', what)],
      afterModelResponse: [note('afterModelResponse', what)],
    })
    await turn(`${yaml}  thinking: low\n`)
    const tools = [{ name: 'bash', description: 'Runs a command', jsonSchema: { type: 'object' } }]
    const request = { model: 'scripted/model', messages: [{ role: 'user', content: 'Hi' }], tools, thinking: 'low' }
    expect(seen()).toEqual([
      ['beforeModelCall', request, 1],
      ['afterModelResponse', request, 2],
    ])
  })

  test('get each chunk of the stream, and its end with the usage', async () => {
    const steps = [{ reasoning: 'Hm.', text: 'Hi you', toolCalls: [{ name: 'bash', callId: 'c1', args: {} }] }, 'Ok']
    await turn(hooks({ onStreamChunk: [note('onStreamChunk', '{ ...ctx.chunk }')] }), {}, { steps })
    const usage = { inputTokens: 10, outputTokens: 5 }
    expect(seen().map(([, chunk]) => chunk)).toEqual([
      { type: 'thinking', delta: 'Hm.' },
      { type: 'text', delta: 'Hi' },
      { type: 'text', delta: ' you' },
      { type: 'tool_call_start', id: 'c1', name: 'bash' },
      { type: 'tool_call_delta', id: 'c1', argsDelta: '{' },
      { type: 'tool_call_delta', id: 'c1', argsDelta: '}' },
      { type: 'tool_call_end', id: 'c1' },
      { type: 'done', usage },
      { type: 'text', delta: 'Ok' },
      { type: 'done', usage },
    ])
  })

  test('get the tool call with its arguments as JSON text, and its result', async () => {
    const what = 'JSON.parse(JSON.stringify({ ...ctx, loop: 0 }))'
    const yaml = hooks({
      beforeToolExecution: [note('beforeToolExecution', what)],
      afterToolExecution: [note('afterToolExecution', what)],
    })
    await turn(yaml, {}, { steps: callsBash('ls -l') })
    const toolCall = { id: 'c1', name: 'bash', arguments: '{"command":"ls -l"}' }
    expect(seen()).toEqual([
      ['beforeToolExecution', { loop: 0, toolCall }],
      ['afterToolExecution', { loop: 0, toolCall, result: { toolCallId: 'c1', content: 'ran' } }],
    ])
  })

  test('are told of an error of the model, of its stream, and of a tool, though the turn goes on after that', async () => {
    const yaml = hooks({ onError: [note('onError', 'ctx.phase, ctx.error.message')] })
    const fail = () => {
      throw new Error('no disk')
    }
    await turn(yaml, {}, { steps: [new Error('no model')] })
    await turn(yaml, {}, { steps: [{ text: 'Hel', error: new Error('cut') }] })
    const { result } = await turn(yaml, {}, { steps: callsBash(), tools: [bash(fail)] })
    expect(seen()).toEqual([
      ['onError', 'model_call', 'no model'],
      ['onError', 'stream', 'cut'],
      ['onError', 'tool_execution', 'no disk'],
    ])
    expect(result?.text).toBe('Done.')
  })

  test('are told of an error that only looks like an abort', async () => {
    const error = Object.assign(new Error('the provider hung up'), { name: 'AbortError' })
    for (const [steps, phase] of [
      [[error], 'model_call'],
      [[{ text: 'Hel', error }], 'stream'],
    ] as const) {
      await turn(hooks({ onError: [note('onError', 'ctx.phase, ctx.error.message')] }), {}, { steps })
      expect(seen()).toEqual([['onError', phase, 'the provider hung up']])
    }
  })

  test('are told of a failed tool before its result, and of no error that ends a run by intent', async () => {
    const block = '(ctx) => { throw new Error("policy") }'
    const yaml = hooks({ beforeLoopBegin: [block], onError: [note('onError', 'ctx.error.message')] })
    const { result } = await turn(yaml)
    expect(result?.status).toBe('blocked')
    expect(seen()).toEqual([['onError', 'policy']])
  })
})

describe('what a hook changes', () => {
  test('of the messages before the loop is what the model gets, in place or replaced', async () => {
    const yaml = hooks({
      beforeLoopBegin: [
        "(ctx) => { ctx.messages = [{ role: 'user', content: 'Bye' }] }",
        "(ctx) => { ctx.messages.push({ role: 'user', content: 'now' }) }",
      ],
    })
    const { model, session } = await turn(yaml)
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(['Bye', 'now'])
    expect(session.history.map(({ content }) => content)).toEqual(['Hi', 'Hello.'])
  })

  test('of the messages after an iteration is what the next model call gets', async () => {
    const yaml = hooks({
      afterLoopIteration: [
        "(ctx) => { if (ctx.iteration === 0) ctx.messages.push({ role: 'user', content: 'Hurry' }) }",
      ],
    })
    const { model } = await turn(yaml, {}, { steps: callsBash() })
    expect(model.requests[1]?.messages.at(-1)).toEqual({ role: 'user', content: 'Hurry' })
  })

  test('of a request is what is sent: messages, tools, thinking', async () => {
    const yaml = hooks({
      beforeModelCall: [
        "(ctx) => { ctx.request.messages[0].content = 'Bye'; ctx.request.tools = []; ctx.request.thinking = 'high' }",
      ],
    })
    const { model } = await turn(yaml)
    expect(model.requests[0]).toMatchObject({
      messages: [{ content: 'Bye' }],
      tools: [],
      settings: { reasoning: 'high' },
    })
  })

  test.each([
    ['as a whole', "ctx.request = { ...ctx.request, messages: [{ role: 'user', content: 'Bye' }], thinking: 'high' }"],
    ['in part', "ctx.request = { messages: [{ role: 'user', content: 'Bye' }], thinking: 'high' }"],
    [
      'and then changed',
      "ctx.request = { thinking: 'high' }; ctx.request.messages = [{ role: 'user', content: 'Bye' }]",
    ],
  ])('of a request is what is sent, where it is replaced %s', async (_how, code) => {
    const { model } = await turn(hooks({ beforeModelCall: [`(ctx) => { ${code} }`] }))
    expect(model.requests[0]).toMatchObject({
      messages: [{ content: 'Bye' }],
      tools: [{ name: 'bash' }],
      settings: { reasoning: 'high' },
    })
  })

  test.each([
    ['beforeModelCall', 'ctx.request.messages = null', 'ctx.request.messages'],
    ['beforeModelCall', "ctx.request.messages = ['Bye']", 'ctx.request.messages'],
    ['beforeModelCall', "ctx.request.messages = [{ role: 'robot', content: 'Bye' }]", 'ctx.request.messages'],
    ['beforeModelCall', 'ctx.request.messages[0].content = undefined', 'ctx.request.messages'],
    ['beforeModelCall', "ctx.request.tools = 'bash'", 'ctx.request.tools'],
    ['beforeModelCall', "ctx.request.thinking = 'hard'", 'ctx.request.thinking'],
    ['beforeModelCall', 'ctx.request.model = 5', 'ctx.request.model'],
    ['beforeModelCall', 'ctx.request = null', 'ctx.request'],
    ['beforeLoopBegin', 'ctx.messages = null', 'ctx.messages'],
  ])('in %s to what nothing can be sent of refuses: %s', async (hook, code, named) => {
    const { result, model, log } = await turn(hooks({ [hook]: [`(ctx) => { ${code} }`] }))
    expect(result).toMatchObject({ status: 'blocked', reason: `The hook "${hook}" failed.` })
    expect(log[0]?.message).toContain(named)
    expect(model.calls).toBe(0)
  })

  test('of the arguments is what the tool runs with', async () => {
    const ran: string[] = []
    const yaml = hooks({
      beforeToolExecution: ["(ctx) => { ctx.toolCall.arguments = JSON.stringify({ command: 'pwd' }) }"],
    })
    await turn(yaml, {}, { steps: callsBash(), tools: [bash(({ command }) => void ran.push(command))] })
    expect(ran).toEqual(['pwd'])
  })

  test('of the arguments is what the tool runs with, where the call is replaced', async () => {
    const ran: string[] = []
    const yaml = hooks({
      beforeToolExecution: ['(ctx) => { ctx.toolCall = { ...ctx.toolCall, arguments: \'{"command":"pwd"}\' } }'],
    })
    await turn(yaml, {}, { steps: callsBash(), tools: [bash(({ command }) => void ran.push(command))] })
    expect(ran).toEqual(['pwd'])
  })

  test('of a result is what the model gets', async () => {
    const yaml = hooks({
      afterToolExecution: ["(ctx) => { ctx.result.content = 'redacted' }", "(ctx) => { ctx.result.content += '!' }"],
    })
    const { model } = await turn(yaml, {}, { steps: callsBash() })
    expect(toolResult(model.requests[1]?.messages as never)).toBe('redacted!')
  })

  test('does nothing where it comes after the timeout', async () => {
    const late =
      "async (ctx) => { await globalThis.gate; ctx.stop('late'); ctx.request.messages = [] ; ctx.request.messages.push({ role: 'user', content: 'late' })}"
    let open = () => {}
    Object.assign(globalThis, { gate: new Promise<void>((resolve) => (open = resolve)) })
    const yaml = hooks({ beforeModelCall: [{ run: late, timeout: 20 }] })
    const steps = [
      async () => {
        open()
        await new Promise(setImmediate)
        return 'Hello.'
      },
    ]
    const { result, model, log } = await turn(yaml, {}, { steps })
    expect(result?.status).toBe('completed')
    expect(model.requests[0]?.messages).toHaveLength(1)
    expect(log[0]?.message).toContain('took longer than 20 ms, so the loop continues without it')
  })
})

describe('ctx.stop()', () => {
  test('in beforeLoopBegin lets no step run', async () => {
    const { result, model } = await turn(
      hooks({ beforeLoopBegin: ["(ctx) => ctx.stop('closed')"], afterLoopComplete: [note('afterLoopComplete')] }),
    )
    expect(result).toMatchObject({ status: 'stopped', reason: 'closed' })
    expect(model.calls).toBe(0)
    expect(seen()).toHaveLength(1)
  })

  test.each([
    ['null', 'stopped'],
    ['new Error("closed")', 'closed'],
    ["''", ''],
  ])('with %s ends the loop all the same', async (given, reason) => {
    const { result, model } = await turn(hooks({ beforeLoopBegin: [`(ctx) => ctx.stop(${given})`] }))
    expect(result).toMatchObject({ status: 'stopped', reason })
    expect(model.calls).toBe(0)
  })

  test('in beforeModelCall makes no call and asks no later entry, and afterLoopComplete still fires', async () => {
    const yaml = hooks({
      beforeModelCall: ['(ctx) => ctx.stop()', note('beforeModelCall')],
      afterLoopComplete: [note('afterLoopComplete', 'ctx.signal.aborted')],
    })
    const { result, model } = await turn(yaml)
    expect(result?.status).toBe('stopped')
    expect(model.calls).toBe(0)
    expect(seen()).toEqual([['afterLoopComplete', true]])
  })

  test('aborts the signal of the contexts, though the run is not aborted', async () => {
    const { result } = await turn(
      hooks({
        afterModelResponse: [
          '(ctx) => { const before = ctx.signal.aborted; ctx.stop(); (globalThis.seen ??= []).push([before, ctx.signal.aborted, ctx.loop.signal.aborted]) }',
        ],
      }),
    )
    expect(seen()).toEqual([[false, true, true]])
    expect(result?.text).toBe('Hello.')
  })

  test.each(['onStreamChunk', 'afterModelResponse', 'beforeToolExecution'])(
    'in %s runs no tool, and the call has a result',
    async (hook) => {
      const ran: string[] = []
      const tools = [bash(() => void ran.push('ran'))]
      const { result, session } = await turn(
        hooks({ [hook]: ["(ctx) => ctx.stop('enough')"] }),
        {},
        { steps: callsBash(), tools },
      )
      expect(result).toMatchObject({ status: 'stopped', reason: 'enough' })
      expect(ran).toEqual([])
      expect(toolResult(session.history as never)).toBe('Not run: enough')
    },
  )

  test.each(['afterToolExecution', 'afterLoopIteration'])('in %s makes no further call', async (hook) => {
    const { result, model } = await turn(hooks({ [hook]: ["(ctx) => ctx.stop('enough')"] }), {}, { steps: callsBash() })
    expect(result).toMatchObject({ status: 'stopped', reason: 'enough' })
    expect(model.calls).toBe(1)
  })
})

describe('ctx.deny()', () => {
  test('refuses the tool with the reason, and asks no later entry', async () => {
    const ran: string[] = []
    const yaml = hooks({ beforeToolExecution: ["(ctx) => ctx.deny('not now')", note('beforeToolExecution')] })
    const { result, session } = await turn(yaml, {}, { steps: callsBash(), tools: [bash(() => void ran.push('ran'))] })
    expect(result?.toolCalls[0]?.result).toMatchObject({ status: 'denied', content: 'not now' })
    expect(toolResult(session.history as never)).toBe('not now')
    expect([...ran, ...seen()]).toEqual([])
  })

  test.each([
    ['no reason', 'ctx.deny()', 'Denied.'],
    ['null', 'ctx.deny(null)', 'Denied.'],
    ['an error', 'ctx.deny(new Error("not on Sundays"))', 'not on Sundays'],
    ['a number', 'ctx.deny(403)', '403'],
  ])('refuses the tool where it is given %s', async (_what, call, content) => {
    const ran: string[] = []
    const yaml = hooks({ beforeToolExecution: [`(ctx) => { ${call} }`, note('beforeToolExecution')] })
    const { result } = await turn(yaml, {}, { steps: callsBash(), tools: [bash(() => void ran.push('ran'))] })
    expect(result?.toolCalls[0]?.result).toMatchObject({ status: 'denied', content })
    expect([...ran, ...seen()]).toEqual([])
  })
})
