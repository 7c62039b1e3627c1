import { describe, expect, it } from 'vitest'
import type { ContentChunk, ModelResponse } from '../src/index.ts'
import { Stage } from '../src/stream/stage.ts'
import type { OnChunk, Pipe, Transforms } from '../src/stream/transforms.ts'
import { failure } from './kit.ts'

const text = (delta: string, more: object = {}): ContentChunk => ({ type: 'text-delta', delta, ...more })
const response = { text: '' } as ModelResponse
const providerMetadata = { test: { n: 1 } }

/** A stage, and what leaves it. */
function stage(steps: Transforms['steps'], { hold = false } = {}) {
  const out: ContentChunk[] = []
  const resets: number[] = []
  const sink = {
    push: (chunk: ContentChunk) => void out.push(chunk),
    reset: () => void resets.push(out.length),
    used: true,
    open: false,
  }
  return { out, resets, made: new Stage('mine', { steps, hold }, sink) }
}
const map = (onChunk: OnChunk) => stage([{ map: onChunk }])
const through: Pipe = async function* (chunks) {
  yield* chunks
}

describe('a layer with one map', () => {
  it.each([
    ['nothing', () => undefined],
    ['the chunk', (chunk: ContentChunk) => chunk],
  ])('that returns %s has changed nothing', (_, onChunk) => {
    const { out, made } = map(onChunk)
    for (const chunk of [text('a'), { type: 'reasoning-delta', delta: 'b' } as const]) made.push(chunk)
    expect([made.changed, out.length, made.assembly.text]).toEqual([false, 2, 'a'])
  })

  it.each([
    ['the text', { delta: 'b' }],
    ['the id', { id: '2' }],
    ['the type', { type: 'reasoning-delta' }],
    ['the metadata', { providerMetadata }],
  ])('may have changed something if it wrote %s of the chunk', (_, change) => {
    const { made } = map((chunk) => void Object.assign(chunk, change))
    made.push(text('a', { id: '1' }))
    expect(made.changed).toBe(true)
  })

  it('may have changed a chunk that has more than text', () => {
    const { made } = map(() => undefined)
    made.push({ type: 'tool-input-start', callId: 'c1', name: 'work' })
    expect(made.changed).toBe(true)
    const other = map(() => undefined)
    other.made.push(text('a', { providerMetadata }))
    expect(other.made.changed).toBe(true)
  })

  it.each([
    ['another chunk', () => text('b'), ['b']],
    ['null', () => null, []],
    ['a list', () => [text('b'), text('c')], ['b', 'c']],
  ] as [string, OnChunk, string[]][])('that returns %s has changed something', (_, onChunk, deltas) => {
    const { out, made } = map(onChunk)
    made.push(text('a'))
    expect([made.changed, out.map((chunk) => (chunk as { delta: string }).delta)]).toEqual([true, deltas])
  })

  it('behaves alike beside other maps', () => {
    const double: OnChunk = (chunk) => (chunk.type === 'text-delta' ? [chunk, chunk] : null)
    const { out, made } = stage([
      { map: (chunk) => chunk },
      { map: () => undefined },
      { map: double },
      { map: () => text('b') },
    ])
    made.push(text('a'))
    made.push({ type: 'reasoning-delta', delta: 't' })
    expect([out, made.changed]).toEqual([[text('b'), text('b')], true])
  })
})

it.each([
  [undefined, 'undefined'],
  [null, 'null'],
  ['text', '"text"'],
  [{}, 'an object'],
  [{ type: 'finish' }, 'a chunk of the type "finish"'],
])('a layer cannot send %j into the stream', async (value, what) => {
  const rest =
    'It takes text-delta, reasoning-delta, tool-input-*, file and source chunks. Use ctx.pipe() for async work.'
  for (const steps of [1, 2]) {
    const maps = Array.from({ length: steps }, () => ({ map: () => [value as never] }))
    const error = await failure(() => stage(maps).made.push(text('a')))
    expect([error.code, error.message]).toEqual(['layer.result', `Layer "mine" sent ${what} into the stream. ${rest}`])
  }
})

describe('a layer with pipes', () => {
  it('has its output when they have ended', async () => {
    const { out, made } = stage([{ pipe: through }, { pipe: through }])
    made.push(text('a'))
    await made.end({ response })
    expect([out, made.assembly.text, made.changed]).toEqual([[text('a')], 'a', true])
  })

  it('starts an answer over without the outer layers, if it may', async () => {
    const { out, resets, made } = stage([{ pipe: through }], { hold: true })
    made.push(text('a'))
    await made.end({ response })
    made.begin()
    made.push(text('b'))
    made.restart()
    made.push(text('c'))
    await made.end({ response })
    await made.release()
    expect([out, resets, made.used]).toEqual([[text('a'), text('c')], [], true])
  })

  it('is named in an error, also in its second answer', async () => {
    const { made } = stage([])
    made.begin()
    made.push({ type: 'tool-input-start', callId: 'c1', name: 'work' })
    expect((await failure(() => made.end({ response }))).message).toContain('Layer "mine" left the tool input "c1"')
  })

  it('takes back what the outer layers have when it is reset', () => {
    const { resets, made } = stage([])
    made.push(text('a'))
    made.reset()
    expect([resets, made.used, made.assembly.text]).toEqual([[1], false, ''])
  })

  it('flushes what its pipes hold back when its source fails, and drops what comes later', async () => {
    const late: Pipe = async function* (chunks, end) {
      for await (const _ of chunks);
      const { error } = await end()
      yield text(String(error))
    }
    const { out, made } = stage([{ pipe: late }])
    await made.fail('broken')
    made.push(text('late'))
    await made.fail('again')
    expect(out).toEqual([text('broken')])
  })

  it.each([
    [true, []],
    [false, [text('a')]],
  ])('sends nothing once it is killed (hold: %s)', async (hold, sent) => {
    const { out, made } = stage([], { hold })
    made.push(text('a'))
    made.kill('gone')
    made.push(text('b'))
    await made.release()
    expect([out, made.assembly.text]).toEqual([sent, 'a'])
  })
})

describe('the output of a layer', () => {
  it.each([
    ['joins deltas without an id', [text('a'), text('b')], 'ab'],
    ['joins deltas of one id', [text('a', { id: '1' }), text('b', { id: '1' })], 'ab'],
    [
      'keeps deltas of several ids apart',
      [text('a', { id: '1' }), text('b', { id: '2' })],
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    ],
    ['keeps metadata', [text('a', { providerMetadata })], [{ type: 'text', text: 'a', providerMetadata }]],
  ])('%s', (_, chunks, content) => {
    const { made } = stage([])
    for (const chunk of chunks) made.push(chunk)
    expect(made.assembly.content().message.content).toEqual(content)
  })
})
