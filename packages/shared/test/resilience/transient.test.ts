import { AlliumError } from '@allium/core'
import { expect, it } from 'vitest'
import { isTransient, statusOf } from '../../src/resilience.ts'

it.each([
  ['a rate limit', { status: 429 }],
  ['an overload, as the cause', new Error('call', { cause: { statusCode: 529 } })],
  ['a reset socket', { code: 'ECONNRESET' }],
  ['what says so of itself', { status: 400, isRetryable: true }],
  ['a tool that took too long', new AlliumError('tool.timeout', 'late')],
  ['an MCP server that is not there', new AlliumError('mcp.unreachable', 'gone')],
])('%s is transient', (_, error) => {
  expect(isTransient(error)).toBe(true)
})

it.each([
  ['a refusal', { status: 403 }],
  ['a host that is not found', { code: 'ENOTFOUND' }],
  ['what says so of itself', { status: 503, isRetryable: false }],
  ['a plain error', new Error('bug')],
  ['an abort', new DOMException('stop', 'AbortError')],
  ['nothing', undefined],
])('%s is not transient', (_, error) => {
  expect(isTransient(error)).toBe(false)
})

it('takes the status of a failure, not the 200 that a cut answer began with', () => {
  expect(statusOf(new Error('cut', { cause: { status: 200, cause: { statusCode: 502 } } }))).toBe(502)
})
