import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger, ToolResult } from 'allium'
import { createDeskAgent } from './desk-agent.ts'
import { playedModel } from './played-model.ts'
import { weatherServer } from './servers/weather.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-mcp-'))
const ticketsFile = join(folder, 'tickets.json')
writeFileSync(ticketsFile, JSON.stringify({ 1: 'No light in the hall', 2: 'asdf', 3: 'The lift is stuck' }))
const weather = await weatherServer('weather-token')

/** The agent's log. The program waits in it for a lost connection. */
const log = new EventEmitter()
const logger: Logger = {
  warn: (message) => void log.emit(message.includes('dropped') ? 'dropped' : 'other', message),
  error: (message, details) => console.error(message, details),
}

const agent = createDeskAgent({
  model: process.env.ALLIUM_MODEL || playedModel(),
  ticketsFile,
  weather: { url: weather.url, token: 'weather-token' },
  logger,
})
let offered: string[] = []
agent.use('model', (ctx, next) => {
  offered = ctx.toolDefs.map(({ name }) => name)
  return next()
})

try {
  const session = agent.session()
  type Run = ReturnType<typeof session.run>

  heading('Two servers, one agent')
  const [first] = await show(session.run('What is open, and how is the weather in Oslo?'))
  console.log(`offered   ${offered.join(', ')}`)

  heading('A tool that needs an approval')
  await show(session.run('Delete ticket 2, it is nonsense.'))
  for (const { name, args } of session.pending) console.log(`waits     ${name} ${JSON.stringify(args)}`)
  const yes = session.pending.map(({ callId }) => [callId, { approve: true as const }])
  if (yes.length > 0) await show(session.resume(Object.fromEntries(yes)))

  heading('The program is killed')
  const before = pidOf(first)
  if (before !== undefined) {
    const killed = once(log, 'dropped')
    process.kill(before, 'SIGKILL')
    await killed
  }
  const [second] = await show(session.run('What is open now?'))
  console.log(`          by another process: ${pidOf(second) !== before}`)

  heading('The server at the URL stops')
  await weather.stop()
  const gone = once(log, 'dropped') // over HTTP, this shows only at the next call
  const asked = await show(session.run('And how is the weather now?'))
  if (asked.length > 0) await gone

  heading('… and is started again')
  await weather.start()
  await show(session.run('Try again, please.'))

  async function show(run: Run) {
    const { status, text, toolCalls } = await run
    for (const { name, args, result } of toolCalls)
      console.log(`${result.status.padEnd(9)} ${name} ${JSON.stringify(args)}\n          ${oneLine(result.content)}`)
    console.log(`${status.padEnd(9)} ${text}`)
    return toolCalls.map(({ result }) => result)
  }
} finally {
  await agent.dispose() // also ends the program
  await weather.stop()
  rmSync(folder, { recursive: true })
}

/** The structured content of a result is its value. */
function pidOf(listed: ToolResult | undefined): number | undefined {
  return (listed?.value as { pid?: number } | undefined)?.pid
}

function oneLine(content: unknown): string {
  return typeof content === 'string' ? content.replaceAll('\n', ' · ') : JSON.stringify(content)
}

function heading(text: string): void {
  console.log(`\n── ${text}\n`)
}
