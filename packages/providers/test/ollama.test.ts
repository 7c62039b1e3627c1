import { expect, it } from 'vitest'
import { ollamaUrl } from '../src/compatible.ts'

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
