import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startInspector } from '../src/index.ts'
import { openPage, startProject } from './project.ts'

/** Sends a request with these headers, which `fetch` would not allow. */
function status(url: string, headers: Record<string, string>, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, method }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.once('error', reject)
    sent.end()
  })
}

test('rejects requests without the token, for another host, or from another origin', async () => {
  const { inspector } = await startProject()
  const { api, token } = inspector
  const authorization = `Bearer ${token}`
  const url = `${api}/inspect`
  expect(await status(url, {})).toBe(401)
  expect(await status(url, { authorization: 'Bearer wrong' })).toBe(401)
  expect(await status(`${url}?token=wrong`, {})).toBe(401)
  expect(await status(url, { authorization, host: 'evil.example' })).toBe(421)
  expect(await status(url, { authorization, host: 'localhost.evil.example:80' })).toBe(421)
  expect(await status(url, { authorization, origin: 'http://evil.example' })).toBe(403)
  expect(await status(url, { authorization, origin: 'null' })).toBe(403)
  expect(await status(url, { authorization, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).toBe(403)
  expect(await status(url, { authorization })).toBe(200)
})

test('a page of another site on this machine reads nothing and starts nothing, although the browser has the cookie', async () => {
  const { inspector, send } = await startProject()
  const { page } = await openPage(inspector)
  const other = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>other</p>'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
  const attempt = (init: Pick<RequestInit, 'method' | 'credentials' | 'mode'> & { body?: string }) =>
    page.evaluate(
      async ([url, options]) => {
        const response = await fetch(url, options).catch(() => undefined)
        return response === undefined ? 'failed' : `${response.type} ${await response.text().catch(() => '')}`
      },
      [`${inspector.api}/sessions/stolen/runs`, init] as const,
    )
  const body = JSON.stringify({ input: 'Hi' })
  expect(await attempt({ method: 'POST', credentials: 'include', body })).toBe('failed')
  expect(await attempt({ method: 'POST', credentials: 'include', mode: 'no-cors', body })).toBe('failed')
  expect(await attempt({ credentials: 'include' })).toBe('failed')
  expect(await (await send('/sessions')).json()).toEqual({ sessions: [] })
})

test('the token leaves the address, and the page can neither be framed nor run inline scripts', async () => {
  const { inspector } = await startProject()
  const { page } = await openPage(inspector)
  expect(page.url()).not.toContain('token')
  const response = await page.goto(inspector.url)
  const policy = response?.headers()['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
})

test('refuses to start in production', async () => {
  const started = startInspector({ file: 'package.json', port: 0, env: { NODE_ENV: 'production' } })
  await expect(started).rejects.toThrow('NODE_ENV is "production"')
})
