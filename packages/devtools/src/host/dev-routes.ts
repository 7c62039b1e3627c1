import type { IncomingMessage, ServerResponse } from 'node:http'
import { DevError } from './dev-error.ts'
import { type ReportFiles, reportFiles } from './evals/report-files.ts'
import { type CaseFile, caseFile } from './evals/save-case.ts'
import type { ReplayTurn } from './replay/replay-process.ts'
import { replayRequest } from './replay/replay-request.ts'

/** Most bytes of a body, such as a case that the page saves. */
const maxBody = 1_500_000

/** The routes of the page that are no routes of the agent. */
export type DevRoutes = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Serves the reports of a project, appends cases to its file of saved cases, and replays turns. */
export function devRoutes(cwd: string, replay: ReplayTurn): DevRoutes {
  const to: Targets = { reports: reportFiles(cwd), cases: caseFile(cwd), replay }
  return async (request, response) => {
    try {
      send(response, 200, await answerOf(request, to))
    } catch (error) {
      if (!(error instanceof DevError)) throw error
      send(response, error.status, { code: 'dev.rejected', message: error.message })
    }
  }
}

interface Targets {
  readonly reports: ReportFiles
  readonly cases: CaseFile
  readonly replay: ReplayTurn
}

async function answerOf(request: IncomingMessage, to: Targets): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const name = searchParams.get('name') ?? ''
  const route = `${request.method} ${pathname}`
  if (route === 'GET /dev/evals') return { reports: await to.reports.list() }
  if (route === 'GET /dev/evals/report') return to.reports.report(name)
  if (route === 'GET /dev/evals/case') return to.reports.caseOf(name, searchParams.get('id') ?? '')
  if (route === 'POST /dev/evals/cases') return to.cases.save(await bodyOf(request))
  if (route === 'POST /dev/replay') return to.replay(replayRequest(await bodyOf(request)))
  throw new DevError(404, 'There is no such route.')
}

/** Reads the body as JSON. The type is required because a form of another site cannot send it. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new DevError(415, 'Send the body as application/json.')
  if (Number(request.headers['content-length'] ?? Number.NaN) > maxBody) throw tooLarge()
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > maxBody) throw tooLarge()
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new DevError(400, 'The body is not JSON.')
  }
}

function tooLarge(): DevError {
  return new DevError(
    413,
    `The body has more than ${maxBody} bytes. Save the case without its files or earlier messages.`,
  )
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}
