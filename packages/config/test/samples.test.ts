import { describe, expect, test, vi } from 'vitest'
import { callsBash, hooks, project, read, turn, turnIn, write } from './kit.ts'

/** The samples of the manual, as they stand there; Bun's calls are Node's. */
const auditLog = `// middleware/audit-log.ts
import { appendFile } from 'node:fs/promises'

export default async (ctx) => {
  await appendFile('AUDIT', JSON.stringify({
    tool: ctx.toolCall.name,
    args: ctx.toolCall.arguments,
    result: ctx.result.content,
    timestamp: Date.now()
  }) + '\\n')
}`

const tokenBudget = `// middleware/token-budget.ts — stop if we've used too many tokens
export default async (ctx) => {
  if (ctx.loop.usage.inputTokens + ctx.loop.usage.outputTokens > 100_000) {
    ctx.stop()
  }
}`

const inline = `agent:
  middleware:
    beforeModelCall:
      - "(ctx) => { console.log('Messages:', ctx.request.messages.length); }"
    onStreamChunk:
      - "(ctx) => { process.stdout.write(ctx.chunk.type === 'text' ? ctx.chunk.delta : '') }"
    onError:
      - "(ctx) => { console.error(\`[\${ctx.phase}]\`, ctx.error.message); }"
`

describe('the samples', () => {
  test('the audit log notes each tool call', async () => {
    const root = project({
      'allium.config.yml': 'agent:\n  middleware:\n    afterToolExecution:\n      - "./middleware/audit-log.ts"\n',
    })
    write(root, 'middleware/audit-log.ts', auditLog.replace('AUDIT', `${root}/audit.jsonl`))
    await turnIn(root, { steps: callsBash('ls') })
    expect(JSON.parse(read(root, 'audit.jsonl'))).toEqual({
      tool: 'bash',
      args: '{"command":"ls"}',
      result: 'ran',
      timestamp: expect.any(Number),
    })
  })

  test.each([
    [99_000, 'completed', 2],
    [100_001, 'stopped', 1],
  ])('the token budget in TypeScript, after %d tokens', async (inputTokens, status, calls) => {
    const steps = [{ toolCalls: [{ name: 'bash', args: {} }], usage: { inputTokens, outputTokens: 0 } }, 'Done.']
    const files = { 'middleware/token-budget.ts': tokenBudget }
    const { result, model } = await turn(hooks({ afterModelResponse: ['./middleware/token-budget.ts'] }), files, {
      steps,
    })
    expect(result?.status).toBe(status)
    expect(model.calls).toBe(calls)
  })

  test('the inline hooks print', async () => {
    const printed: unknown[] = []
    const spies = [
      vi.spyOn(console, 'log').mockImplementation((...args) => void printed.push(args.join(' '))),
      vi.spyOn(console, 'error').mockImplementation((...args) => void printed.push(args.join(' '))),
      vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(text) > 0),
    ]
    await turn(inline, {}, { steps: [{ text: 'Hi you', error: new Error('cut') }] })
    for (const spy of spies) spy.mockRestore()
    expect(printed).toEqual(['Messages: 1', 'Hi', ' you', '[stream] cut'])
  })

  test('the first one: inline, a file, a script, a command', async () => {
    const yaml = `# allium.config.yml
agent:
  middleware:
    beforeModelCall:
      - "(ctx) => { globalThis.calling = 'Calling model...'; }"
    afterToolExecution:
      - "./middleware/log-tools.ts"
    beforeToolExecution:
      - "./middleware/policy-check.sh"
      - "shell: sh ./middleware/guardrail.sh --strict"
`
    const files = {
      'middleware/log-tools.ts': 'export default async (ctx) => { globalThis.logged = ctx.toolCall.name }',
      'middleware/policy-check.sh': 'cat > checked',
      'middleware/guardrail.sh': 'echo "{\\"deny\\": \\"$1\\"}"',
    }
    const { result, root } = await turn(yaml, files, { steps: callsBash() })
    expect(result?.toolCalls[0]?.result.content).toBe('--strict')
    expect(read(root, 'checked')).toContain('"hook":"beforeToolExecution"')
    expect(globalThis).toMatchObject({ calling: 'Calling model...' })
  })
})
