import { expect, test } from 'vitest'
import { silent, tell, tellAnswer } from './told.ts'

test('what a server logged and answered is one more error of a test that fails, and no other output', async () => {
  const failed: Function[] = []
  const result = { errors: [{ message: 'expected 500 to be 200' }] }
  const other = { context: { onTestFailed: (then: Function) => failed.push(then) } } as never
  tell('error: A request has failed. {"cause":"TypeError"}', other)
  tell(Promise.resolve('500 {"code":"server.failed"}'), other)
  await failed[0]?.({ task: { result } })
  expect([failed.length, result.errors.map(({ message }) => message)]).toEqual([
    1,
    [
      'expected 500 to be 200',
      'The server said:\nerror: A request has failed. {"cause":"TypeError"}\n500 {"code":"server.failed"}',
    ],
  ])
})

test('an answer that is told can still be read', async () => {
  silent.error('A request has failed.', { status: 500 })
  expect(await tellAnswer(new Response('no', { status: 500 })).text()).toBe('no')
})
