import { type Agent, type Logger, observe } from 'allium'
import { loadConfig } from 'allium/config'
import type { Arguments } from './arguments.ts'
import { openStore } from './open-store.ts'
import { printable } from './printable.ts'
import type { Surroundings } from './surroundings.ts'

export interface Opened {
  readonly agent: Agent
  /** Shows the onion of a turn, where that is asked for. */
  trace(turnId: string): void
  /** Whether sessions with an id outlive the command. */
  readonly isStored: boolean
  /** Ends the agent, then its store. */
  close(): Promise<void>
}

/** The agent of a config. @throws AlliumError `config.*` */
export async function openAgent(
  { config, model, trace, debug, store: where }: Arguments,
  around: Surroundings,
  watch: boolean,
): Promise<Opened> {
  const { stderr, env } = around
  const line = (text: string) => void stderr.write(`${printable(text)}\n`)
  const logger: Logger = { warn: line, error: line, ...(debug && { debug: line }) }
  const onReload = ({ file, error }: { file: string; error?: unknown }) => {
    if (error === undefined) line(`${file} was read again.`)
  }
  const store = await openStore(where, around)
  const chosen = { ...(model !== undefined && { model }), ...(store !== undefined && { store }) }
  const agent = await loadConfig(config, { logger, env, watch, onReload, ...chosen })
  const close = async () => {
    await agent.dispose()
    await store?.close()
  }
  const opened = { agent, isStored: store !== undefined, close }
  if (!trace) return { ...opened, trace: () => {} }
  const onion = observe.onion({ as: 'cli:onion' })
  agent.use(onion)
  return { ...opened, trace: (turnId) => line(`\n${onion.toText(turnId)}`) }
}
