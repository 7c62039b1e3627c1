import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from 'allium'
import { UsageError } from './exit-codes.ts'

/** A parsed command line. */
export interface Arguments {
  command: 'run' | 'chat' | 'resume' | 'help' | 'version'
  /** An absolute path. */
  config: string
  /** Undefined if it comes from stdin. */
  prompt: string | undefined
  model: string | undefined
  /** The id of the session in its store. */
  session: string | undefined
  /** The session store: a SQLite file, or a Postgres URL. */
  store: string | undefined
  /** The principal of the session. */
  principal: object | undefined
  trace: boolean
  json: boolean
  debug: boolean
}

export const help = `Usage:
  allium run [config] "prompt"    one turn; without a prompt, reads it from stdin
  allium chat [config]            a conversation, line by line; /exit or Ctrl-D ends it
  allium resume <session> [config] ["prompt"]
                                  asks you to decide the pending calls of a stored session, or continues it with a prompt
  allium check [config]           shows what check() finds in the order of the layers; exit code 1 with an error; --json
  allium dev <module>             opens the inspector of an agent in the browser and reloads the agent after changes;
                                  --port <port>, --export <name>, --database <file>; needs @allium/devtools
  allium eval [files]             runs evals/*.eval.ts, compares them with their baselines, and reports for CI; "allium eval --help"
  allium backtest <module>        runs recorded tool calls through a changed agent's policies; "allium backtest --help"
  allium replay <module>          runs recorded turns through a changed agent and shows the differences; "allium replay --help"
  allium store sql postgres|sqlite
                                  prints the SQL of a store's tables; --schema <name>, --from <version>
  allium store recordings         shows the recorded turns of each tenant: their number, size and age; --store <where>, --json
  allium rollouts                 shows the rollouts of a store: their users, mean scores, e-values and verdicts; --store <where>, --json;
                                  "stop <name>" ends one in all processes, "restart <name>" begins a new round without counts
  allium store feedback           counts the feedback on the runs of each tenant and agent; --store <where>, --tenant <tenant>, --json
  allium store reindex            writes the index of memory.recall again, from stored conversations; --store <where>, --tenant <tenant>,
                                  --agent <agent> for each agent, --owner <owner>, --language <code>, --cursor <cursor>, --json
  allium store memory             shows whether memory is on, and switches it; --store <where>, --tenant <tenant>, --owner <owner>, --on, --off, --json
  allium runs <command>           shows, stops, retries, moves and restarts durable runs of a store; "allium runs --help"
  allium schedules <command>      lists, pauses, resumes and runs the schedules of a store; "allium schedules --help"

Without a config: allium.config.yml, .yaml, .json, .ts, .mts, .js or .mjs in this folder. A module that exports an agent, a group of agents
or a workflow works in place of a config.

  --model <model>  the model to use instead of the config's, such as openai/gpt-5
  --principal <user>
                   the user: an id, or JSON such as '{"userId":"jane","tenantId":"acme"}'
  --store <where>  where sessions are stored: a file such as allium.db, or postgres://…; default: ALLIUM_STORE
  --session <id>   the id of the session in the store
  --trace          shows the onion of each turn on stderr
  --json           events as JSON, one per line, then the result
  --debug          shows what shell hooks write to stderr
  --help, --version

Exit codes: 0 answered or stopped, 1 failed, 2 mistake in the command or config, 3 blocked,
4 a tool call waits for approval (in chat: at its end), 130 Ctrl-C
`

const configExtensions = ['yml', 'yaml', 'json', 'ts', 'mts', 'js', 'mjs']

/** @throws UsageError */
export function parseCommand(argv: readonly string[], cwd: string): Arguments {
  const { values, positionals } = parse(argv)
  const [command, ...rest] = positionals
  const options = {
    model: values.model,
    principal: values.principal === undefined ? undefined : principalOf(values.principal),
    session: values.session,
    store: values.store,
    trace: values.trace === true,
    json: values.json === true,
    debug: values.debug === true,
  }
  if (values.version === true) return { ...options, command: 'version', config: '', prompt: undefined }
  if (values.help === true || command === undefined || command === 'help')
    return { ...options, command: 'help', config: '', prompt: undefined }
  // `resume` takes the session before all other arguments.
  if (command === 'resume') options.session ??= rest.shift()
  if (command !== 'run' && command !== 'chat' && command !== 'resume')
    throw new UsageError(`Unknown command "${command}".`)
  if (rest.length > (command === 'chat' ? 1 : 2))
    throw new UsageError(`Too many arguments: ${rest.join(' ')}. Put the prompt in quotes.`)
  const [first, second] = rest
  const named = second !== undefined || command === 'chat' || (first !== undefined && isConfig(first, cwd))
  const config = named && first !== undefined ? resolve(cwd, first) : findConfig(cwd)
  return { ...options, command, config, prompt: named ? second : first }
}

function parse(argv: readonly string[]) {
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        model: { type: 'string' },
        principal: { type: 'string' },
        session: { type: 'string' },
        store: { type: 'string' },
        trace: flag,
        json: flag,
        debug: flag,
        help: { ...flag, short: 'h' },
        version: flag,
      },
    })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

function principalOf(text: string): object {
  if (/^[^\s"'{[]+$/.test(text)) return { userId: text }
  try {
    const principal: unknown = JSON.parse(text)
    if (typeof principal === 'object' && principal !== null && !Array.isArray(principal)) return principal
  } catch {}
  throw new UsageError(
    `--principal is ${JSON.stringify(text)}. Give the id of a user, or JSON such as '{"userId":"jane","tenantId":"acme"}'.`,
  )
}

function isConfig(text: string, cwd: string): boolean {
  return configExtensions.some((extension) => text.endsWith(`.${extension}`)) && existsSync(resolve(cwd, text))
}

function findConfig(cwd: string): string {
  const names = configExtensions.map((extension) => `allium.config.${extension}`)
  const found = names.map((name) => resolve(cwd, name)).find((file) => existsSync(file))
  if (found !== undefined) return found
  throw new UsageError(
    `There is no allium.config.yml in ${cwd}. Create one, or pass its path: allium run path/to/config.yml "prompt".`,
  )
}
