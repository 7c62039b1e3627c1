import { describe, expect, test } from 'vitest'
import { callsBash, hooks, turn } from './kit.ts'

const throws = '() => { throw new Error("broken") }'
const hangs = '() => new Promise(() => {})'
const before = ['beforeLoopBegin', 'beforeModelCall'] as const
const after = [
  'onStreamChunk',
  'afterModelResponse',
  'afterToolExecution',
  'afterLoopIteration',
  'afterLoopComplete',
] as const

const run = (hook: string, entry: object | string) => turn(hooks({ [hook]: [entry] }), {}, { steps: callsBash() })

describe('a hook that throws', () => {
  test.each(before)('in %s blocks the turn', async (hook) => {
    const { result } = await run(hook, throws)
    expect(result).toMatchObject({ status: 'blocked', reason: `The hook "${hook}" failed.` })
  })

  test('in beforeToolExecution denies the tool, and the model is told no more than that', async () => {
    const { result, log } = await run('beforeToolExecution', throws)
    expect(result?.toolCalls[0]?.result).toMatchObject({
      status: 'denied',
      content: 'The hook "beforeToolExecution" failed.',
    })
    expect(log[0]?.message).toContain('so the call or turn is blocked: broken')
  })

  test.each(after)('in %s lets the loop go on', async (hook) => {
    const { result } = await run(hook, throws)
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
  })

  test.each([...before, ...after])('in %s, told it is a policy, blocks or denies', async (hook) => {
    const { result } = await run(hook, { run: throws, policy: true })
    const denied = result?.toolCalls[0]?.result.status === 'denied'
    expect(hook === 'afterToolExecution' ? denied : result?.status === 'blocked').toBe(true)
  })

  test.each([...before, 'beforeToolExecution'])('in %s, told it is no policy, lets the loop go on', async (hook) => {
    const { result } = await run(hook, { run: throws, policy: false })
    expect(result).toMatchObject({ status: 'completed', toolCalls: [{ result: { status: 'ok' } }] })
  })

  test('skips the later entries of its hook, and tells onError', async () => {
    const note = (what: string) => `(ctx) => { (globalThis.noted ??= []).push(${what}) }`
    await turn(
      hooks({ afterModelResponse: [throws, note('"later"')], onError: [note('ctx.phase + ": " + ctx.error.message')] }),
    )
    expect((globalThis as { noted?: unknown }).noted).toEqual(['model_call: broken'])
  })

  test('in onError is not told to onError', async () => {
    const { result, log } = await turn(hooks({ onError: [throws], afterLoopComplete: [throws] }))
    expect(result?.status).toBe('completed')
    expect(log.map(({ message }) => message.slice(0, 20))).toEqual(['The hook afterLoopCo', 'The hook onError[0] '])
  })

  test('with an abort of its own is a failure like any other', async () => {
    const { result } = await run('beforeToolExecution', '() => { throw new DOMException("mine", "AbortError") }')
    expect(result?.toolCalls[0]?.result.status).toBe('denied')
  })
})

describe('a hook that takes too long', () => {
  test.each([...before, ...after])('in %s is left behind, and the later entries run', async (hook) => {
    const { result } = await turn(
      hooks({ [hook]: [{ run: hangs, timeout: 10 }, '() => { globalThis.ranLater = true }'] }),
      {},
      { steps: callsBash() },
    )
    expect(result?.status).toBe('completed')
    expect(globalThis).toHaveProperty('ranLater', true)
  })

  test('in beforeToolExecution denies the tool', async () => {
    const { result } = await run('beforeToolExecution', { run: hangs, timeout: 10 })
    expect(result?.toolCalls[0]?.result.content).toBe('The hook "beforeToolExecution" took too long.')
  })

  test('told that it is a policy, blocks', async () => {
    const { result } = await run('beforeModelCall', { run: hangs, timeout: 10, policy: true })
    expect(result).toMatchObject({ status: 'blocked', reason: 'The hook "beforeModelCall" took too long.' })
  })

  test('is bounded by toolTimeout, as the tools are', async () => {
    const slow = {
      name: 'bash',
      description: 'Hangs',
      jsonSchema: { type: 'object' },
      execute: () => new Promise(() => {}),
    }
    const yaml = `toolTimeout: 30\n${hooks({ beforeModelCall: [hangs] })}`
    const { result, log } = await turn(yaml, {}, { steps: callsBash(), tools: [slow] })
    expect(log[0]?.message).toContain('took longer than 30 ms')
    expect(result?.toolCalls[0]?.result.content).toBe('The tool "bash" took longer than 30 ms.')
  })

  test('ends with the run, when that is aborted', async () => {
    const { agent } = await turn(
      hooks({ afterLoopComplete: ['(ctx) => new Promise(() => { globalThis.entered?.() })'] }),
      {},
      { steps: ['a', 'b'], toolTimeout: 20 },
    )
    const entered = new Promise((resolve) => Object.assign(globalThis, { entered: resolve }))
    const run = agent.run('again')
    await entered
    run.abort('enough')
    await expect(run).rejects.toThrow('enough')
  })
})
