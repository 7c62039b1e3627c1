import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { Flights } from '../src/index.ts'

const { signal } = new AbortController()

it('gives who asks for the same what the first came to', async () => {
  const flights = new Flights<string>()
  const first = await flights.joinOrBegin('a', signal)
  const second = flights.joinOrBegin('a', signal)
  if ('value' in first) throw new Error('The first had nothing to join.')
  first.land('done')
  first.end()
  expect(await second).toEqual({ value: 'done' })
})

it('lets the next one begin where the first came to nothing', async () => {
  const flights = new Flights<string>()
  const first = await flights.joinOrBegin('a', signal)
  const second = flights.joinOrBegin('a', signal)
  if (!('value' in first)) first.end()
  expect(await second).not.toHaveProperty('value')
})

it('lets one that waits leave when its signal aborts', async () => {
  const flights = new Flights<string>()
  await flights.joinOrBegin('a', signal)
  const leaving = new AbortController()
  const second = flights.joinOrBegin('a', leaving.signal)
  leaving.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
})

it('lets many wait on one signal behind one listener', async () => {
  const flights = new Flights<string>()
  const { signal } = new AbortController()
  const first = await flights.joinOrBegin('a', signal)
  const others = Array.from({ length: 20 }, () => flights.joinOrBegin('a', signal))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  if ('value' in first) throw new Error('The first had nothing to join.')
  first.land('done')
  first.end()
  expect(await Promise.all(others)).toHaveLength(20)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

it('lets the next one begin as soon as the signal of the one under way aborts, whose late end ends nothing else', async () => {
  const flights = new Flights<string>()
  const left = new AbortController()
  const first = await flights.joinOrBegin('a', left.signal)
  left.abort(new Error('left'))
  const second = await flights.joinOrBegin('a', signal)
  const third = flights.joinOrBegin('a', signal)
  if (!('value' in first)) first.end()
  if ('value' in second) throw new Error('The second had nothing to join.')
  second.land('done')
  second.end()
  expect(await third).toEqual({ value: 'done' })
})
