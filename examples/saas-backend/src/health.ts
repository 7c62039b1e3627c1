import { get } from 'node:http'

/** Exits with 0 if the local server is ready. It sends the public host name, because the server rejects others. */
const { PORT = '3000', PUBLIC_URL } = process.env
const headers = PUBLIC_URL === undefined ? {} : { host: new URL(PUBLIC_URL).host }

get({ host: '127.0.0.1', port: PORT, path: '/api/readyz', headers, timeout: 5000 }, (response) => {
  process.exit(response.statusCode === 200 ? 0 : 1)
})
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
