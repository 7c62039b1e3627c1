import { type Agent, type Logger, observe } from 'allium'
import { loadConfig } from 'allium/config'
import type { Arguments } from './arguments.ts'
import { printable } from './printable.ts'
import type { Surroundings } from './surroundings.ts'

export interface Opened {
  readonly agent: Agent
  /** Shows the onion of a turn, where that is asked for. */
  trace(turnId: string): void
}

/** The agent of a config. @throws AlliumError `config.*` */
export async function openAgent(
  { config, model, trace, debug }: Arguments,
  { stderr, env }: Surroundings,
  watch: boolean,
): Promise<Opened> {
  const line = (text: string) => void stderr.write(`${printable(text)}\n`)
  const logger: Logger = { warn: line, error: line, ...(debug && { debug: line }) }
  const onReload = ({ file, error }: { file: string; error?: unknown }) => {
    if (error === undefined) line(`${file} was read again.`)
  }
  const agent = await loadConfig(config, { logger, env, watch, onReload, ...(model !== undefined && { model }) })
  if (!trace) return { agent, trace: () => {} }
  const onion = observe.onion({ as: 'cli:onion' })
  agent.use(onion)
  return { agent, trace: (turnId) => line(`\n${onion.toText(turnId)}`) }
}
