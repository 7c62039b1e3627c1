import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ResolveModel } from '@allium/core'
import { createResolver } from '@allium/providers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { collect, failureOf, textOf } from './calls.ts'
import { sse, wireServer } from './wire-server.ts'
import { apiKey, wires } from './wires.ts'
import { finishV3, written } from './written-model.ts'

const nobody = { principal: undefined }
const keys = {
  OPENAI_API_KEY: apiKey,
  ANTHROPIC_API_KEY: apiKey,
  GOOGLE_GENERATIVE_AI_API_KEY: apiKey,
  GROQ_API_KEY: apiKey,
}

async function refusal(resolve: ResolveModel, ref: string) {
  return Promise.resolve(resolve(ref, nobody)).then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('a string', () => {
  it.each(['openai/gpt-5', 'anthropic/claude-sonnet-4-6', 'google/gemini-2.5-flash'])(
    '%s imports its package on demand, and names the model',
    async (ref) => {
      expect((await createResolver({ env: keys })(ref, nobody)).id).toBe(ref)
    },
  )

  it.each([
    ['openai', { OPENAI_BASE_URL: '/v1' }, 'openai/gpt-5', 0],
    ['anthropic', { ANTHROPIC_BASE_URL: '/v1' }, 'anthropic/claude-sonnet-4-6', 2],
    ['google', { GOOGLE_GENERATIVE_AI_BASE_URL: '/v1beta' }, 'google/gemini-2.5-flash', 3],
    ['ollama', { OLLAMA_HOST: '' }, 'ollama/llama3.2:3b', 1],
    ['openrouter', { OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: '/v1' }, 'openrouter/meta-llama/llama-4:free', 1],
  ])('of %s calls the address of the environment', async (_, variables, ref, wire) => {
    const { url, requests } = await wireServer(sse(wires[wire]!.events.join('')))
    const placed = Object.entries(variables).map(([name, value]) => [name, name.endsWith('KEY') ? value : url + value])
    const model = await createResolver({ env: { ...keys, ...Object.fromEntries(placed) } })(ref, nobody)
    expect(model.id).toBe(ref)
    expect(textOf(await collect(model))).toBe('Grüße 🧅')
    expect(requests).toHaveLength(1)
  })

  it('of a provider with a slip in it is told the nearest one', async () => {
    const resolve = createResolver({ env: keys })
    expect(await refusal(resolve, 'opnai/gpt-5')).toMatchObject({
      code: 'provider.not_installed',
      message: expect.stringContaining('Did you mean "openai"?'),
    })
  })

  it('of openai at a server without /responses fails with the mend, which works', async () => {
    const { url, requests } = await wireServer(
      (res) => res.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"Not Found"}}'),
      sse(wires[1]!.events.join('')),
    )
    const resolve = createResolver({ env: { ...keys, OPENAI_BASE_URL: `${url}/v1` } })
    const error = await failureOf(await resolve('openai/qwen3', nobody))
    expect(error).toMatchObject({ status: 404, message: expect.stringContaining('use "openai-compatible/qwen3"') })
    expect(textOf(await collect(await resolve('openai-compatible/qwen3', nobody)))).toBe('Grüße 🧅')
    expect(requests.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/chat/completions'])
  })

  it('of openai-compatible sends the key of OpenAI to no other address', async () => {
    const { url, requests } = await wireServer(sse(wires[1]!.events.join('')))
    const resolve = createResolver({ env: { ...keys, OPENAI_COMPATIBLE_BASE_URL: `${url}/v1` } })
    await collect(await resolve('openai-compatible/qwen3', nobody))
    expect(requests[0]?.headers.authorization).toBeUndefined()
    expect(await refusal(createResolver({ env: keys }), 'openai-compatible/qwen3')).toMatchObject({
      code: 'provider.unsupported',
    })
  })

  it.each([
    ['openai/gpt-5', 'api.openai.com'],
    ['anthropic/claude-sonnet-4-6', 'api.anthropic.com'],
    ['google/gemini-2.5-flash', 'generativelanguage.googleapis.com'],
    ['ollama/llama3.2', '127.0.0.1'],
  ])('%s tells where its calls go', async (ref, address) => {
    const port = address === '127.0.0.1' ? 11434 : 443
    expect((await createResolver({ env: keys })(ref, nobody)).server).toEqual({ address, port })
  })

  it.each([
    'gpt-5',
    '',
    '/gpt-5',
    'openai/',
    '../evil/x',
    'Openai/gpt-5',
    'openai/../../files',
    'openai/a?b',
    'a.b/c',
    'openai /x',
  ])('%j is refused, with the reason', async (ref) => {
    expect(await refusal(createResolver({ env: keys }), ref)).toMatchObject({ code: 'model.invalid' })
  })

  it('without a slash is told the form', async () => {
    expect(await refusal(createResolver(), 'gpt-5')).toMatchObject({
      message: expect.stringContaining('"provider/model"'),
    })
  })

  it('of a package that is not installed names the command', async () => {
    expect(await refusal(createResolver({ env: keys }), 'groq/llama')).toMatchObject({
      code: 'provider.not_installed',
      message: expect.stringContaining('npm install @ai-sdk/groq'),
    })
  })

  it.each([
    ['openai', 'OPENAI_API_KEY'],
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['google', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['openrouter', 'OPENROUTER_API_KEY'],
  ])('of %s without a key names the variable, before any call', async (provider, variable) => {
    const resolve = createResolver({ env: { [variable]: ' ' } })
    expect(await refusal(resolve, `${provider}/m`)).toMatchObject({
      code: 'provider.key_missing',
      message: expect.stringContaining(variable),
    })
  })

  it("finds a package that only the program's own folder has", async () => {
    const home = await mkdtemp(join(tmpdir(), 'allium-'))
    const folder = join(home, 'node_modules/@ai-sdk/acme')
    await mkdir(folder, { recursive: true })
    await writeFile(
      join(folder, 'index.js'),
      'exports.acme = { languageModel: (modelId) => ({ provider: "acme", modelId, doStream() {} }) }',
    )
    const before = process.cwd()
    onTestFinished(async () => {
      process.chdir(before)
      await rm(home, { recursive: true })
    })
    process.chdir(home)
    expect((await createResolver()('acme/m-1', nobody)).id).toBe('acme/m-1')
  })

  it('is resolved once, unless it failed', async () => {
    const env: Record<string, string> = {}
    const resolve = createResolver({ env })
    expect(await refusal(resolve, 'openai/gpt-5')).toMatchObject({ code: 'provider.key_missing' })
    env.OPENAI_API_KEY = apiKey
    expect(await resolve('openai/gpt-5', nobody)).toBe(await resolve('openai/gpt-5', nobody))
  })

  it('of a package that breaks while it loads fails with its own error', async () => {
    const broken = Object.assign(new Error("Cannot find package 'zod' imported from @ai-sdk/openai"), {
      code: 'ERR_MODULE_NOT_FOUND',
    })
    const resolve = createResolver({ env: keys, import: async () => Promise.reject(broken) })
    expect(await refusal(resolve, 'openai/gpt-5')).toBe(broken)
  })

  it('of a package without a known key gets the instance that the package exports', async () => {
    const languageModel = () => written('v3', [finishV3])
    const resolve = createResolver({ import: async (name) => ({ VERSION: name, acme: { languageModel } }) })
    expect((await resolve('acme/m-1', nobody)).id).toBe('acme/m-1')
  })

  it('of a package without a provider says so', async () => {
    expect(await refusal(createResolver({ import: async () => ({}) }), 'acme/x')).toMatchObject({
      code: 'provider.unsupported',
    })
  })
})
