import { afterEach, expect, it } from 'vitest'
import { polyfillWithResolvers } from '../src/with-resolvers.ts'

const before = Object.getOwnPropertyDescriptor(Promise, 'withResolvers')
afterEach(() => {
  Reflect.deleteProperty(Promise, 'withResolvers')
  if (before !== undefined) Object.defineProperty(Promise, 'withResolvers', before)
})

it('is put where it is missing, and is left as it is where it is there', async () => {
  Reflect.deleteProperty(Promise, 'withResolvers')
  polyfillWithResolvers()
  const made = Reflect.get(Promise, 'withResolvers')
  const { promise, resolve } = made.call(Promise)
  resolve('done')
  expect(await promise).toBe('done')
  polyfillWithResolvers()
  expect(Reflect.get(Promise, 'withResolvers')).toBe(made)
})
