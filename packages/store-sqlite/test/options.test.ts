import { expect, it } from 'vitest'
import { sqlite } from '../src/index.ts'

it('refuses an option that it does not have, and opens no file', () => {
  const open = () => sqlite(':memory:', { encript: {} } as never)
  expect(open).toThrow(expect.objectContaining({ code: 'options.invalid' }))
  expect(open).toThrow('sqlite() does not know the option encript. Did you mean "encrypt"?')
})

it.each([5, undefined, null, {}])('refuses %j as its path', (path) => {
  const open = () => sqlite(path as never)
  expect(open).toThrow(expect.objectContaining({ code: 'options.invalid' }))
  expect(open).toThrow('sqlite() takes the path of a file')
})
