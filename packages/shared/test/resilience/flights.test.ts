import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { SingleFlight } from '../../src/resilience.ts'

const { signal } = new AbortController()

it('gives who asks for the same what the first came to', async () => {
  const flights = new SingleFlight<string>()
  const first = await flights.joinOrLead('a', signal)
  const second = flights.joinOrLead('a', signal)
  if ('value' in first) throw new Error('The first had nothing to join.')
  first.resolve('done')
  first.release()
  expect(await second).toEqual({ value: 'done' })
})

it('lets the next one begin where the first came to nothing', async () => {
  const flights = new SingleFlight<string>()
  const first = await flights.joinOrLead('a', signal)
  const second = flights.joinOrLead('a', signal)
  if (!('value' in first)) first.release()
  expect(await second).not.toHaveProperty('value')
})

it('lets one that waits leave when its signal aborts', async () => {
  const flights = new SingleFlight<string>()
  await flights.joinOrLead('a', signal)
  const leaving = new AbortController()
  const second = flights.joinOrLead('a', leaving.signal)
  leaving.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
})

it('lets many wait on one signal behind one listener', async () => {
  const flights = new SingleFlight<string>()
  const { signal } = new AbortController()
  const first = await flights.joinOrLead('a', signal)
  const others = Array.from({ length: 20 }, () => flights.joinOrLead('a', signal))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  if ('value' in first) throw new Error('The first had nothing to join.')
  first.resolve('done')
  first.release()
  expect(await Promise.all(others)).toHaveLength(20)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

it('lets the next one begin as soon as the signal of the one under way aborts, whose late end ends nothing else', async () => {
  const flights = new SingleFlight<string>()
  const left = new AbortController()
  const first = await flights.joinOrLead('a', left.signal)
  left.abort(new Error('left'))
  const second = await flights.joinOrLead('a', signal)
  const third = flights.joinOrLead('a', signal)
  if (!('value' in first)) first.release()
  if ('value' in second) throw new Error('The second had nothing to join.')
  second.resolve('done')
  second.release()
  expect(await third).toEqual({ value: 'done' })
})
