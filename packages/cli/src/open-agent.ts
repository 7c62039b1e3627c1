import type { Logger } from 'allium'
import { loadConfig } from 'allium/config'
import * as observe from 'allium/observe'
import type { Arguments } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { agentOfFile, type CommandAgent } from './load-module.ts'
import { openStore } from './open-store.ts'
import { printable } from './printable.ts'

export interface OpenedAgent {
  readonly agent: CommandAgent
  /** Prints the onion of a turn if `--trace` is on. */
  trace(turnId: string): void
  /** Whether sessions with an id outlive the command. */
  readonly isStored: boolean
  /** Disposes the agent, then closes its store. */
  close(): Promise<void>
}

/** Loads the agent of a config, or that of a module. @throws AlliumError `config.*` */
export async function openAgent(args: Arguments, context: CommandContext, watch: boolean): Promise<OpenedAgent> {
  const { config, model, trace, debug, store: location } = args
  const { stderr, env } = context
  const line = (text: string) => void stderr.write(`${printable(text)}\n`)
  const logger: Logger = { warn: line, error: line, ...(debug && { debug: line }) }
  const onReload = ({ file, error }: { file: string; error?: unknown }) => {
    if (error === undefined) line(`${file} was reloaded.`)
  }
  const exported = await agentOfFile(args)
  const store = exported === undefined ? await openStore(location, context) : undefined
  const overrides = { ...(model !== undefined && { model }), ...(store !== undefined && { store }) }
  const agent: CommandAgent = exported ?? (await loadConfig(config, { logger, env, watch, onReload, ...overrides }))
  const close = async () => {
    await agent.dispose()
    await store?.close()
  }
  const openedAgent = { agent, isStored: (store ?? agent.store) !== undefined, close }
  if (!trace) return { ...openedAgent, trace: () => {} }
  const onion = observe.onion({ as: 'cli:onion' })
  agent.use(onion)
  return { ...openedAgent, trace: (turnId) => line(`\n${onion.toText(turnId)}`) }
}
