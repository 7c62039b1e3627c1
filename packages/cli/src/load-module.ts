import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { Agent } from 'allium'
import type { Arguments } from './arguments.ts'
import { UsageError } from './exit-codes.ts'
import { importModule } from './import-module.ts'

/** What `run`, `chat`, `resume` and `check` use of an agent. A group of agents and a workflow have it, too. */
export type CommandAgent = Pick<Agent, 'name' | 'session' | 'check' | 'use' | 'dispose'> & { readonly store?: unknown }

/**
 * Returns the agent that a module exports, as `allium dev` finds it: an agent, a group or a workflow, or a function that returns it. Undefined
 * if the file is a config.
 *
 * @throws UsageError for an option that only a config takes
 */
export async function agentOfFile({ config, model, store }: Arguments): Promise<CommandAgent | undefined> {
  if (!mayExportAgent(config)) return undefined
  const module = await importModule(config).catch(() => undefined)
  const exported = module?.default ?? module?.agent
  const agent = typeof exported === 'function' && exported.length === 0 ? await exported() : exported
  if (!isAgent(agent)) return undefined
  const given = model !== undefined ? '--model' : store !== undefined ? '--store' : undefined
  if (given === undefined) return agent
  throw new UsageError(`${given} is for configs, but ${config} exports the agent "${agent.name}". Change it there.`)
}

function isAgent(value: unknown): value is CommandAgent {
  const agent = value as Partial<Record<string, unknown>> | null | undefined
  return ['session', 'inspect', 'use', 'dispose'].every((name) => typeof agent?.[name] === 'function')
}

/** Whether a file may export an agent. A config would be imported twice. */
function mayExportAgent(file: string): boolean {
  if (['.yml', '.yaml', '.json'].includes(extname(file))) return false
  try {
    return !/\bdefineConfig\b/.test(readFileSync(file, 'utf8'))
  } catch {
    return false
  }
}
