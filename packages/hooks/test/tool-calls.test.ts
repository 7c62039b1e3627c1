import { describe, expect, it } from 'vitest'
import { from, type Lifecycle } from '../src/index.ts'
import { build, oneCall, settled, tool, toolResults } from './kit.ts'

describe('onBeforeToolCall', () => {
  it('lets the tool run by nothing, with the arguments of the model', async () => {
    const seen: unknown[] = []
    const work = tool('work', (args) => void seen.push(args))
    const { agent } = build(oneCall, [from({ onBeforeToolCall: () => undefined })], { tools: [work] })
    await agent.run('hi')
    expect(seen).toEqual([{ n: 1 }])
  })

  it('changes the arguments, and changed ones never end the chain of guards', async () => {
    const seen: unknown[] = []
    const change: Lifecycle = {
      onBeforeToolCall: (_, { args }) => ({ type: 'transformArgs', args: { n: Number(args.n) + 1 } }),
    }
    const guard: Lifecycle = { onBeforeToolCall: (_, { args }) => void seen.push(args) }
    const work = tool('work', (args) => void seen.push(args))
    await build(oneCall, [from([change, change, guard])], { tools: [work] }).agent.run('hi')
    expect(seen).toEqual([{ n: 3 }, { n: 3 }])
  })

  it('lets a guard behind changed arguments refuse them', async () => {
    let ran = false
    const change: Lifecycle = { onBeforeToolCall: () => ({ type: 'transformArgs', args: { path: '/etc' } }) }
    const guard: Lifecycle = {
      onBeforeToolCall: (_, { args }) => (args.path === '/etc' ? { type: 'skip', result: 'refused' } : undefined),
    }
    const work = tool('work', () => {
      ran = true
    })
    const { messages } = await build(oneCall, [from([change, guard])], { tools: [work] }).agent.run('hi')
    expect([ran, toolResults(messages)]).toEqual([false, ['refused']])
  })

  it('skips the tool with a result, of any value; the first one wins', async () => {
    const asked: string[] = []
    const skip: Lifecycle = {
      onBeforeToolCall: () => ({ type: 'skip', result: { cached: 10n } }),
      onAfterToolCall: (_, { result, ok }) => void asked.push(`${result.status} ${ok}`),
    }
    const second: Lifecycle = { onBeforeToolCall: () => void asked.push('second') }
    const { messages } = await build(oneCall, [from([skip, second])]).agent.run('hi')
    expect([asked, toolResults(messages)]).toEqual([['skipped true'], ['{"cached":"10"}']])
  })

  it('aborts the run', async () => {
    const ended: unknown[] = []
    const hooks = from({
      onBeforeToolCall: () => ({ type: 'abort', reason: 'too dangerous' }),
      onAbort: (_, { reason }) => void ended.push(reason),
    })
    const { error } = await settled(build(oneCall, [hooks]).agent.run('hi'))
    expect([(error as Error).name, ended]).toEqual(['AbortError', ['too dangerous']])
  })

  it('mends arguments that do not fit, which it is told of', async () => {
    const seen: unknown[] = []
    const hooks = from({
      onBeforeToolCall(_, { invalid }) {
        seen.push(invalid?.length)
        return { type: 'transformArgs', args: { n: 2 } }
      },
    })
    const work = tool('work', (args) => void seen.push(args))
    await build([{ toolCalls: [{ name: 'work', args: 'no json' }] }, 'done'], [hooks], { tools: [work] }).agent.run(
      'hi',
    )
    expect(seen).toEqual([1, { n: 2 }])
  })

  it('fails the run, and the tool does not run, by an unknown decision or an error', async () => {
    let ran = false
    const work = tool('work', () => {
      ran = true
    })
    const decisions = [() => ({ type: 'allow' }) as never, () => Promise.reject(new TypeError('broken'))]
    const errors = []
    for (const onBeforeToolCall of decisions)
      errors.push(
        (await settled(build(oneCall, [from({ onBeforeToolCall })], { tools: [work] }).agent.run('hi'))).error,
      )
    expect([ran, errors]).toMatchObject([false, [{ code: 'layer.result' }, { name: 'TypeError' }]])
  })
})

describe('onAfterToolCall', () => {
  it('tells the call, its result and whether it failed', async () => {
    const seen: unknown[] = []
    const work = tool('work', () => {
      throw new Error('secret')
    })
    const hooks = from({
      onAfterToolCall: (_, { name, args, ok, result }) => void seen.push(name, args, ok, result.content),
    })
    await build(oneCall, [hooks], { tools: [work] }).agent.run('hi')
    expect(seen).toEqual(['work', { n: 1 }, false, 'The tool "work" failed.'])
  })

  it('never makes a second result by throwing: that of the tool stands, and the run fails', async () => {
    const ended: string[] = []
    const hooks = from({
      onAfterToolCall: () => Promise.reject(new Error('audit is down')),
      onFinish: () => void ended.push('finish'),
      onError: (_, { error }) => void ended.push((error as Error).message),
    })
    const { agent, model } = build([...oneCall, 'never'], [hooks])
    const session = agent.session()
    const { error } = await settled(session.run('hi'))
    expect([(error as Error).message, toolResults(session.history)]).toEqual(['audit is down', ['worked']])
    expect([ended, model.calls]).toEqual([['audit is down'], 1])
  })

  it('does not come for a call that waits for a human, but once that is decided', async () => {
    const seen: string[] = []
    const work = { ...tool('work'), requireApproval: true }
    const hooks = from({
      onAfterToolCall: (_, { result }) => void seen.push(result.status),
      onToolPhaseComplete: () => void seen.push('complete'),
    })
    const session = build(oneCall, [hooks], { tools: [work] }).agent.session()
    await session.run('hi')
    expect(seen).toEqual([])
    await session.resume({ c1: { approve: true } })
    expect(seen).toEqual(['ok', 'complete'])
  })
})

describe('tools', () => {
  it('run in parallel, their hooks too', async () => {
    const log: string[] = []
    let both = () => {}
    const met = new Promise<void>((resolve) => (both = resolve))
    const meet = tool('work', () => (log.push('in') === 2 ? both() : met))
    const hooks = from({ onAfterToolCall: () => void log.push('out') })
    const { agent } = build([{ toolCalls: [{ name: 'work' }, { name: 'work' }] }, 'done'], [hooks], { tools: [meet] })
    await agent.run('hi')
    expect(log).toEqual(['in', 'in', 'out', 'out'])
  })
})
