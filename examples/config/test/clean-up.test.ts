import { describe, expect, test } from 'vitest'
import { cleanUp } from '../src/clean-up.ts'

describe('the agent in a file', () => {
  test('denies the commands that the shell script forbids, and runs the others', async () => {
    const { toolCalls, text } = await cleanUp(10)
    expect(toolCalls.map(({ result }) => result.content)).toEqual(['rm -rf is not allowed', 'ls /tmp: done'])
    expect(text).toBe('All tidy.')
  })

  test('runs no tool when the office is closed', async () => {
    const { toolCalls } = await cleanUp(22)
    expect(toolCalls.map(({ result }) => result.content)).toEqual(['rm -rf is not allowed', 'The office is closed.'])
  })
})
