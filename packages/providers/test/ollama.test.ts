import { createResolver, ollamaUrl } from '@allium/providers'
import { expect, it } from 'vitest'

it.each([
  ['', 'http://127.0.0.1:11434/v1'],
  ['127.0.0.1', 'http://127.0.0.1:11434/v1'],
  ['0.0.0.0:8080', 'http://127.0.0.1:8080/v1'],
  [':8080', 'http://127.0.0.1:8080/v1'],
  ['http://gpu.lan', 'http://gpu.lan:11434/v1'],
  ['http://gpu.lan:80/', 'http://gpu.lan/v1'],
  ['https://gpu.example.com/ollama/', 'https://gpu.example.com/ollama/v1'],
  ['http://gpu.lan:1/v1', 'http://gpu.lan:1/v1'],
])('OLLAMA_HOST %j is the address %s', (host, url) => {
  expect(ollamaUrl(host)).toBe(url)
})

it.each(['http://', 'no host', 'gpu.lan:port', 'ftp://gpu.lan', 'http://[::1'])(
  'OLLAMA_HOST %j is refused, with the reason',
  async (host) => {
    const refusal = { code: 'provider.unsupported', message: expect.stringContaining(`OLLAMA_HOST is "${host}"`) }
    expect(() => ollamaUrl(host)).toThrow(expect.objectContaining(refusal))
    const resolve = createResolver({ env: { OLLAMA_HOST: host } })
    await expect(resolve('ollama/qwen3', { principal: undefined })).rejects.toMatchObject(refusal)
  },
)
