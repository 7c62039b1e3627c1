import { createResolver, type ResolverOptions } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { finishV3, written } from './written-model.ts'

const gateway = 'http://gateway.internal/v1'
const nobody = { principal: undefined }

/** Resolves a string with a package that keeps the settings it is created with. */
async function settingsFor(ref: string, env: ResolverOptions['env'], createName?: string) {
  const provider = ref.split('/', 1)[0] as string
  const seen: unknown[] = []
  const instance = { languageModel: () => written('v4', [finishV3]) }
  const create = (settings: unknown) => {
    seen.push(settings)
    return instance
  }
  const exported = { [createName ?? `create${provider.replaceAll('-', '')}`]: create, [provider]: instance }
  await createResolver({ env, import: async () => exported })(ref, nobody)
  return seen
}

describe('a setting in the environment', () => {
  it.each([
    ['alibaba', 'ALIBABA'],
    ['baseten', 'BASETEN'],
    ['deepinfra', 'DEEPINFRA'],
    ['huggingface', 'HUGGINGFACE'],
    ['moonshotai', 'MOONSHOT'],
    ['togetherai', 'TOGETHER'],
    ['vercel', 'VERCEL'],
    ['gateway', 'AI_GATEWAY'],
    ['acme', 'ACME'],
  ])('reaches the package of %s: its key, and its address under both names', async (provider, prefix) => {
    const key = { [`${prefix}_API_KEY`]: 'secret' }
    for (const name of [`${prefix}_BASE_URL`, `${provider.toUpperCase()}_BASE_URL`])
      expect(await settingsFor(`${provider}/m`, { ...key, [name]: gateway })).toEqual([
        { apiKey: 'secret', baseURL: gateway },
      ])
  })

  it.each([
    [{ GOOGLE_BASE_URL: gateway }, gateway],
    [{ GOOGLE_GENERATIVE_AI_BASE_URL: gateway }, gateway],
    [{ GOOGLE_GENERATIVE_AI_BASE_URL: gateway, GOOGLE_BASE_URL: gateway }, gateway],
    [{ GOOGLE_GENERATIVE_AI_BASE_URL: ' ', GOOGLE_BASE_URL: gateway }, gateway],
  ])("is read from either of Google's names: %j", async (variables, baseURL) => {
    const env = { GOOGLE_GENERATIVE_AI_API_KEY: 'secret', ...variables }
    expect(await settingsFor('google/gemini-3-pro', env)).toEqual([{ apiKey: 'secret', baseURL }])
  })

  it.each([
    ['google/m', { GOOGLE_GENERATIVE_AI_BASE_URL: gateway, GOOGLE_BASE_URL: 'http://other' }],
    ['ollama/m', { OLLAMA_HOST: 'gpu.lan', OLLAMA_BASE_URL: gateway }],
  ])('that contradicts another one is rejected: %s', async (ref, variables) => {
    const env = { GOOGLE_GENERATIVE_AI_API_KEY: 'secret', ...variables }
    await expect(settingsFor(ref, env)).rejects.toMatchObject({
      code: 'provider.unsupported',
      message: expect.stringContaining(`${Object.keys(variables).join(' and ')} differ`),
    })
  })

  it('reaches Amazon Bedrock under the names of AWS, and the address under that of the provider first', async () => {
    const env = {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'token',
      AWS_ENDPOINT_URL: 'http://aws.internal',
      AMAZON_BEDROCK_BASE_URL: gateway,
    }
    const credentials = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' }
    expect(await settingsFor('amazon-bedrock/m', env)).toEqual([
      { region: 'eu-central-1', ...credentials, baseURL: gateway },
    ])
  })

  it('reaches a package whose function has the short name of the provider', async () => {
    const env = { GOOGLE_VERTEX_PROJECT: 'p', GOOGLE_VERTEX_LOCATION: 'l', GOOGLE_VERTEX_BASE_URL: gateway }
    expect(await settingsFor('google-vertex/m', env, 'createVertex')).toEqual([
      { project: 'p', location: 'l', baseURL: gateway },
    ])
  })

  it('reaches Ollama: its address under both names, and a key', async () => {
    const seen: unknown[] = []
    const createOpenAICompatible = (settings: unknown) => {
      seen.push(settings)
      return { languageModel: () => written('v4', [finishV3]) }
    }
    const env = { OLLAMA_BASE_URL: 'https://gpu.example.com', OLLAMA_API_KEY: 'secret' }
    await createResolver({ env, import: async () => ({ createOpenAICompatible }) })('ollama/m', nobody)
    expect(seen).toMatchObject([{ baseURL: 'https://gpu.example.com/v1', apiKey: 'secret' }])
  })

  it('that a package cannot take is an error, which names it', async () => {
    await expect(settingsFor('acme/m', { ACME_BASE_URL: gateway }, 'other')).rejects.toMatchObject({
      code: 'provider.unsupported',
      message: expect.stringContaining('no provider that takes baseURL'),
    })
  })
})
