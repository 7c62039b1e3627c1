import type { Agent, Logger } from 'allium'
import { loadConfig } from 'allium/config'
import * as observe from 'allium/observe'
import type { Arguments } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { openStore } from './open-store.ts'
import { printable } from './printable.ts'

export interface OpenedAgent {
  readonly agent: Agent
  /** Prints the onion of a turn if `--trace` is on. */
  trace(turnId: string): void
  /** Whether sessions with an id outlive the command. */
  readonly isStored: boolean
  /** Disposes the agent, then closes its store. */
  close(): Promise<void>
}

/** Loads the agent of a config. @throws AlliumError `config.*` */
export async function openAgent(
  { config, model, trace, debug, store: location }: Arguments,
  context: CommandContext,
  watch: boolean,
): Promise<OpenedAgent> {
  const { stderr, env } = context
  const line = (text: string) => void stderr.write(`${printable(text)}\n`)
  const logger: Logger = { warn: line, error: line, ...(debug && { debug: line }) }
  const onReload = ({ file, error }: { file: string; error?: unknown }) => {
    if (error === undefined) line(`${file} was reloaded.`)
  }
  const store = await openStore(location, context)
  const overrides = { ...(model !== undefined && { model }), ...(store !== undefined && { store }) }
  const agent = await loadConfig(config, { logger, env, watch, onReload, ...overrides })
  const close = async () => {
    await agent.dispose()
    await store?.close()
  }
  const openedAgent = { agent, isStored: store !== undefined, close }
  if (!trace) return { ...openedAgent, trace: () => {} }
  const onion = observe.onion({ as: 'cli:onion' })
  agent.use(onion)
  return { ...openedAgent, trace: (turnId) => line(`\n${onion.toText(turnId)}`) }
}
