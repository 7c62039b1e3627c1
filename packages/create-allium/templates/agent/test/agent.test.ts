import { scriptedModel } from 'allium/testing'
import { expect, test } from 'vitest'
import { createAgent } from '../src/agent.ts'
import { chooseModel } from '../src/model.ts'

const id = 'openai/gpt-5-mini'

test('looks up the time, then answers', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'time_in', args: { zone: 'UTC' } }] }, 'It is noon.'], { id })
  const { text, toolCalls } = await createAgent(model).run('What time is it?')
  expect(text).toBe('It is noon.')
  expect(toolCalls[0]?.result.content).toContain('UTC')
})

test('tells the model about a time zone that does not exist', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'time_in', args: { zone: 'Mars' } }] }, 'I do not know.'], { id })
  const { toolCalls } = await createAgent(model).run('What time is it on Mars?')
  expect(toolCalls[0]?.result.status).toBe('error')
})

test('the script that answers without a key looks up the city in the question, and only that', async () => {
  const agent = createAgent(chooseModel({}).model)
  const { text } = await agent.run('What time is it in Tokyo?')
  expect(text).toMatch(/it is \d\d:\d\d:\d\d in Asia\/Tokyo\.$/)
  const { toolCalls } = await agent.run('Who are you?')
  expect(toolCalls).toEqual([])
})
