/** The same with a web page. It continues to read the run, in whichever process the run is. */
import { readFileSync } from 'node:fs'
import { server } from '@allium/server'
import { serve } from '@allium/server/node'
import { open, principal } from './journey-agent.ts'

const { agent, runs } = open()
const html = readFileSync(new URL('page.html', import.meta.url))
const headers = { 'content-type': 'text/html; charset=utf-8' }
// All callers are the same user.
const app = server(agent, { principal: () => principal, durable: runs, base: '/api' })
const fetch = async (request: Request) =>
  new URL(request.url).pathname === '/' ? new Response(html, { headers }) : app.fetch(request)

const { url } = await serve({ ...app, fetch }, { port: Number(process.env.PORT ?? 3020) })
console.log(
  `Open ${url} and book a journey. Kill this process in the middle of the answer and start it again: the page continues.`,
)
