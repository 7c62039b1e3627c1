/** The same for a page: it goes on reading where it was, whichever process the run is in by then. */
import { readFileSync } from 'node:fs'
import { server } from '@allium/server'
import { serve } from '@allium/server/node'
import { open, principal } from './journey-agent.ts'

const { agent, runs } = open()
const html = readFileSync(new URL('page.html', import.meta.url))
const headers = { 'content-type': 'text/html; charset=utf-8' }
// Everybody on this machine is Dana.
const app = server(agent, { principal: () => principal, durable: runs, base: '/api' })
const fetch = async (request: Request) =>
  new URL(request.url).pathname === '/' ? new Response(html, { headers }) : app.fetch(request)

const { url } = await serve({ ...app, fetch }, { port: Number(process.env.PORT ?? 3020) })
console.log(
  `Open ${url}, book, and kill this process in the middle of the answer: start it again, and the page goes on.`,
)
