import { Agent, type AgentOptions } from '@allium/core'
import { type ManualClock, manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it, vi } from 'vitest'
import { type ConsoleOptions, console as consoleLayer } from '../src/index.ts'

describe('observe.console', () => {
  it('prints turns, model calls and tool calls, one line a thing', async () => {
    expect(
      await linesOf([{ text: 'Let me look.', toolCalls: [{ name: 'work', args: { id: 1 } }] }, 'All done.']),
    ).toEqual([
      '▶ turn 1  hello',
      '  model scripted/model  0 ms  10 in, 5 out, tool-calls  Let me look.  → work',
      '  tool work  {"id":1}',
      '  tool work  0 ms  ok  worked',
      '  model scripted/model  0 ms  10 in, 5 out, stop  All done.',
      '■ turn 1  0 ms  All done.',
    ])
  })

  it('prints errors, and throws them on as they are', async () => {
    const error = new Error('overloaded')
    const lines: string[] = []
    await expect(agentOf([error], { write: (line) => lines.push(line) }).run('hello')).rejects.toBe(error)
    expect(lines).toEqual([
      '▶ turn 1  hello',
      '  ✖ model scripted/model  0 ms  overloaded',
      '✖ turn 1  0 ms  overloaded',
    ])
  })

  it('prints what a tool threw, for the developer', async () => {
    expect(await linesOf([{ toolCalls: [{ name: 'breaks' }] }, 'ok'])).toContain(
      '  ✖ tool breaks  0 ms  error  The tool "breaks" failed. (disk full)',
    )
  })

  it('tells how long things took', async () => {
    const clock = manualClock()
    const slow = async () => {
      await clock.advance(12)
      return 'hi'
    }
    expect(await linesOf([slow], {}, 'hello', clock)).toContain('■ turn 1  12 ms  hi')
  })

  it('keeps each record on its line, whatever is in it', async () => {
    const nasty = 'a\nb\r\u001b[2Jc\u2028d\u202ee\ud800f\u0000'
    const lines = await linesOf([nasty], {}, nasty)
    expect(lines[0]).toBe('▶ turn 1  a\\nb\\r\\u001b[2Jc\\u2028d\\u202ee\\ud800f\\u0000')
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Zl}]/u)
  })

  it('cuts what is long', async () => {
    const lines = await linesOf(['y'.repeat(1000)], { maxLength: 10 }, 'x'.repeat(1000))
    expect(lines[0]).toBe(`▶ turn 1  ${'x'.repeat(9)}…`)
    expect(lines.at(-1)).toBe(`■ turn 1  0 ms  ${'y'.repeat(9)}…`)
  })

  it.each<[string, ConsoleOptions, ManualClock?]>([
    ['throws', { write: () => expect.fail('broken pipe') }],
    ['rejects', { write: () => Promise.reject(new Error('broken pipe')) }],
    ['never answers', { write: () => new Promise(() => {}) }],
    ['has a broken clock', { write: () => {} }, { ...manualClock(), monotonic: () => expect.fail('no time') }],
  ])('lets the run through where its output %s', async (_, options, clock) => {
    const { text } = await agentOf(['hi'], options, clock).run('hello')
    expect(text).toBe('hi')
  })

  it('streams as if it were not there', async () => {
    const events: string[] = []
    for await (const event of agentOf(['a b c'], { write: () => {} }).run('hello'))
      if (event.type === 'text-delta') events.push(String(event.delta))
    expect(events).toEqual(['a', ' b', ' c'])
  })

  it('writes to the console unless told otherwise', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    await new Agent({ model: scriptedModel(['hi']) }).use(consoleLayer()).run('hello')
    expect(log.mock.calls.map(([line]) => String(line).slice(0, 7))).toEqual(['▶ turn ', '  model', '■ turn '])
    log.mockRestore()
  })

  it('stands under another name', () => {
    expect(consoleLayer({ as: 'mine' }).name).toBe('mine')
  })
})

const tools: AgentOptions['tools'] = [
  { name: 'work', description: 'Works', jsonSchema: { type: 'object' }, execute: () => 'worked' },
  {
    name: 'breaks',
    description: 'Breaks',
    jsonSchema: { type: 'object' },
    execute() {
      throw new Error('disk full')
    },
  },
]

function agentOf(steps: ScriptedStep[], options: ConsoleOptions, clock = manualClock()) {
  const agent = new Agent({ model: scriptedModel(steps), tools, clock, logger: { warn() {}, error() {} } })
  return agent.use(consoleLayer(options))
}

async function linesOf(
  steps: ScriptedStep[],
  options: ConsoleOptions = {},
  input = 'hello',
  clock?: ManualClock,
): Promise<string[]> {
  const lines: string[] = []
  await agentOf(steps, { write: (line) => lines.push(line), ...options }, clock).run(input)
  return lines
}
