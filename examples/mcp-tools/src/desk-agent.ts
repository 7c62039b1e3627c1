import { fileURLToPath } from 'node:url'
import { Agent, type Logger, type ModelRef } from 'allium'
import * as tools from 'allium/tools'

export interface Desk {
  model: ModelRef
  /** The file of the ticket server. */
  ticketsFile: string
  weather: { url: string; token: string }
  logger: Logger
}

const program = fileURLToPath(new URL('./servers/tickets.ts', import.meta.url))

/** An agent with the tools of two MCP servers: a program that it starts, and a server at a URL. */
export function createDeskAgent({ model, ticketsFile, weather, logger }: Desk) {
  return new Agent({ name: 'desk', model, logger })
    .use(
      tools.mcp({
        name: 'tickets',
        command: process.execPath,
        args: ['--import=tsx', program],
        cwd: fileURLToPath(new URL('..', import.meta.url)),
        env: { TICKETS_FILE: ticketsFile }, // of the other variables of this process, it gets only PATH, HOME and similar ones
        include: ['list', 'delete'], // and not export_all
        requireApproval: ['delete'],
      }),
    )
    .use(
      tools.mcp({
        name: 'weather',
        url: weather.url,
        headers: { authorization: `Bearer ${weather.token}` },
        prefix: 'weather_',
      }),
    )
}
