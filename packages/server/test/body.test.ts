import { expect, it } from 'vitest'
import { readJson } from '../src/request/body.ts'

function requestOf(body: string | Uint8Array<ArrayBuffer>, length: number): Request {
  const headers = { 'content-type': 'application/json', 'content-length': String(length) }
  return new Request('http://127.0.0.1/', { method: 'POST', headers, body })
}

it('reads a body of known length without a web stream', async () => {
  const request = requestOf('{"input":"Zoë"}', 16)
  Object.defineProperty(request, 'body', { value: undefined })
  expect(await readJson(request, 100)).toEqual({ input: 'Zoë' })
})

it('limits the body that arrived, whatever length it announced', async () => {
  await expect(readJson(requestOf('"xxxxxxxxxx"', 1), 5)).rejects.toMatchObject({ code: 'request.too_large' })
})

it('rejects a body of known length that is not UTF-8', async () => {
  const bytes = Uint8Array.of(0x22, 0xff, 0x22)
  await expect(readJson(requestOf(bytes, 3), 5)).rejects.toMatchObject({ code: 'request.invalid' })
})
