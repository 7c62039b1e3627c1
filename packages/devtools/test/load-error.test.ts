import { expect, test } from 'vitest'
import { loadErrorText } from '../src/child/load-error.ts'

test('an error of the agent shows the lines of the project, not those of the loader', () => {
  const error = new Error('Transform failed')
  error.stack = `Error: Transform failed
/app/src/agent.ts:29:0: ERROR: Expected identifier
    at createAgent (/app/src/agent.ts:12:3)
    at failureErrorWithLog (/app/node_modules/esbuild/lib/main.js:1752:15)
    at Socket.emit (node:events:524:28)
    at async Promise.all (<anonymous>)`
  expect(loadErrorText(error)).toBe(`Error: Transform failed
/app/src/agent.ts:29:0: ERROR: Expected identifier
    at createAgent (/app/src/agent.ts:12:3)`)
  expect(loadErrorText('no agent')).toBe('no agent')
})
