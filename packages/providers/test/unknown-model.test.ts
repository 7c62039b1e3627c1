import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { fromAiSdk } from '@allium/providers'
import { expect, it } from 'vitest'
import { failureOf } from './calls.ts'
import { status, wireServer } from './wire-server.ts'

const apiKey = 'sk-planted-secret-4711'
const openAiBody = (message: string) => ({ error: { message, type: 'invalid_request_error', code: 'model_not_found' } })
const absent = 'The model `gpt-nine` does not exist or you do not have access to it.'

const cases = [
  {
    name: 'openai responses',
    code: 400,
    body: openAiBody("The requested model 'gpt-nine' does not exist."),
    model: (url: string) => createOpenAI({ apiKey, baseURL: url }).responses('gpt-nine'),
    fix: 'The provider "openai" has no model "gpt-nine", or your key has no access. Correct the id: https://platform.openai.com/docs/models has the list.',
  },
  {
    name: 'openai chat',
    code: 404,
    body: openAiBody(absent),
    model: (url: string) => createOpenAI({ apiKey, baseURL: url }).chat('gpt-nine'),
    fix: 'Correct the id: https://platform.openai.com/docs/models has the list.',
  },
  {
    name: 'anthropic',
    code: 404,
    body: { type: 'error', error: { type: 'not_found_error', message: 'model: claude-sonet-4-6' } },
    model: (url: string) => createAnthropic({ apiKey, baseURL: url })('claude-sonet-4-6'),
    fix: 'The provider "anthropic" has no model "claude-sonet-4-6", or your key has no access. Correct the id: https://docs.claude.com/en/docs/about-claude/models has the list.',
  },
  {
    name: 'google',
    code: 404,
    body: {
      error: {
        code: 404,
        message: 'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.',
        status: 'NOT_FOUND',
      },
    },
    model: (url: string) => createGoogleGenerativeAI({ apiKey, baseURL: url })('gemini-9'),
    fix: 'The provider "google" has no model "gemini-9", or your key has no access. Correct the id: https://ai.google.dev/gemini-api/docs/models has the list.',
  },
]

it.each(cases)('the error of $name for an unknown model says what to change', async ({ code, body, model, fix }) => {
  const { url } = await wireServer(status(code, JSON.stringify(body), { 'content-type': 'application/json' }))
  const error = (await failureOf(fromAiSdk(model(url)))) as Error & { status?: number }
  expect(error.message).toContain(fix)
  expect(error).toMatchObject({ name: 'AI_APICallError', status: code })
  expect(error.message).not.toMatch(/\.\.|posts to/)
  expect(error.message).not.toContain(apiKey)
})

it.each([
  ['a 404 of another page', 404, '<html>Not found</html>'],
  [
    'a parameter that the model does not support',
    400,
    JSON.stringify({
      error: {
        message: "Unsupported parameter: 'top_p' is not supported with gpt-nine.",
        code: 'unsupported_parameter',
      },
    }),
  ],
])('the error for %s stays as the provider wrote it', async (_name, code, body) => {
  const { url } = await wireServer(status(code, body, { 'content-type': 'application/json' }))
  const error = (await failureOf(fromAiSdk(createOpenAI({ apiKey, baseURL: url }).chat('gpt-nine')))) as Error
  expect(error.message).not.toContain('has no model')
})
