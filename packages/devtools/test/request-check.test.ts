import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { checkRequest } from '../src/host/request-check.ts'

const options = { token: 'secret-token', port: 4111 }
const cookie = 'allium-dev-4111=secret-token'
const host = '127.0.0.1:4111'

function check(headers: IncomingHttpHeaders, url = '/', method = 'GET') {
  const admission = checkRequest({ headers, url, method } as IncomingMessage, options)
  return admission.admitted ? (admission.setsCookie ? 'sets cookie' : 'admitted') : admission.status
}

test.each<[string, IncomingHttpHeaders, string | number]>([
  ['the cookie', { host, cookie }, 'admitted'],
  ['the cookie among others', { host, cookie: `a=b; ${cookie}; c=d` }, 'admitted'],
  [
    'a cookie of the same name that another page set before',
    { host, cookie: `allium-dev-4111=x; ${cookie}` },
    'admitted',
  ],
  ['the token of a command', { host, authorization: 'Bearer secret-token' }, 'admitted'],
  ['localhost', { host: 'localhost:4111', cookie }, 'admitted'],
  ['its own origin', { host, cookie, origin: `http://${host}` }, 'admitted'],
  ['no token', { host }, 401],
  ['the token of another port', { host, cookie: 'allium-dev-4112=secret-token' }, 401],
  ['a longer token', { host, authorization: 'Bearer secret-token-2' }, 401],
  ['no host', { cookie }, 421],
  ['a domain that points at this machine', { host: 'evil.example:4111', cookie }, 421],
  ['another port', { host: '127.0.0.1:80', cookie }, 421],
  ['another origin', { host, cookie, origin: 'https://evil.example' }, 403],
  ['another port on this machine as origin', { host, cookie, origin: 'http://127.0.0.1:3000' }, 403],
  ['an image on another page', { host, cookie, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, 403],
])('decides a request with %s', (_, headers, expected) => {
  expect(check(headers)).toBe(expected)
})

test('a link with the token sets the cookie, but only for reading', () => {
  expect(check({ host }, '/?token=secret-token')).toBe('sets cookie')
  expect(check({ host }, '/?token=wrong')).toBe(401)
  expect(check({ host }, '/api/sessions/a/runs?token=secret-token', 'POST')).toBe(401)
})
