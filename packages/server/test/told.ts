import type { Logger } from '@allium/core'
import { TestRunner } from 'vitest'

type Told = string | Promise<string>
type Test = NonNullable<ReturnType<typeof TestRunner.getCurrentTest>>

const told = new WeakMap<Test, Told[]>()
const most = 10

/** Keeps what a server said while a test runs. If the test fails, its last ten lines are one more error of it, which reports show. */
export function tell(line: Told, test = TestRunner.getCurrentTest()): void {
  if (test === undefined) return
  const lines = told.get(test) ?? []
  if (lines.push(line) > most) lines.shift()
  if (told.has(test)) return
  told.set(test, lines)
  test.context.onTestFailed(async ({ task }) => {
    const message = ['The server said:', ...(await Promise.all(lines))].join('\n')
    task.result?.errors?.push({ name: 'Error', message, stack: message })
  })
}

/** Prints nothing, unless the test fails. */
export const silent: Logger = {
  warn: (message, attributes) => tell(`warn: ${message} ${JSON.stringify(attributes)}`),
  error: (message, attributes) => tell(`error: ${message} ${JSON.stringify(attributes)}`),
}

/** Keeps an answer that is an error. */
export function tellAnswer(response: Response): Response {
  if (response.status < 400) return response
  const body = response.clone().text()
  tell(
    body.then(
      (text) => `${response.status} ${text.slice(0, 500)}`,
      () => `${response.status}`,
    ),
  )
  return response
}
