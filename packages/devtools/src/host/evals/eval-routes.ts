import type { IncomingMessage, ServerResponse } from 'node:http'
import { ReportError, type ReportFiles, reportFiles } from './report-files.ts'
import { type CaseFile, caseFile } from './save-case.ts'

/** Most bytes of a case that the page saves. */
const maxBody = 1_500_000

/** The routes of the page for evals of the project. They are below `/dev/evals`. */
export type EvalRoutes = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Serves the reports of a project, and appends cases to its file of saved cases. */
export function evalRoutes(cwd: string): EvalRoutes {
  const [reports, cases] = [reportFiles(cwd), caseFile(cwd)]
  return async (request, response) => {
    try {
      send(response, 200, await answerOf(request, { reports, cases }))
    } catch (error) {
      if (!(error instanceof ReportError)) throw error
      send(response, error.status, { code: 'dev.evals', message: error.message })
    }
  }
}

async function answerOf(request: IncomingMessage, to: { reports: ReportFiles; cases: CaseFile }): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const name = searchParams.get('name') ?? ''
  const route = `${request.method} ${pathname}`
  if (route === 'GET /dev/evals') return { reports: await to.reports.list() }
  if (route === 'GET /dev/evals/report') return to.reports.report(name)
  if (route === 'GET /dev/evals/case') return to.reports.caseOf(name, searchParams.get('id') ?? '')
  if (route === 'POST /dev/evals/cases') return to.cases.save(await bodyOf(request))
  throw new ReportError(404, 'There is no such route.')
}

/** Reads the body as JSON. The type is required because a form of another site cannot send it. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new ReportError(415, 'Send the case as application/json.')
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
    throw new ReportError(400, 'The case is not JSON.')
  }
}

function tooLarge(): ReportError {
  return new ReportError(413, `The case has more than ${maxBody} bytes. Save it without its files or earlier messages.`)
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}
