import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TurnView } from '../../contexts/turn.ts'
import { Observers } from '../../events/observers.ts'
import type { Identity } from '../../messages/message.ts'
import type { AdaptModel, KnownModel, ResolveModel, Settings } from '../../model/model.ts'
import type { Onion } from '../../onion/hook.ts'
import { Capabilities } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Journal } from '../../ports/journal.ts'
import type { Logger } from '../../ports/logger.ts'
import type { RegisteredPrincipal } from '../../ports/register.ts'
import type { ReadUntrustedSchema, Validate } from '../../ports/validate.ts'
import type { Fields } from '../../state/field.ts'
import type { DecidableCall } from '../../tool/approval.ts'
import { ToolRegistry } from '../../tool/registry.ts'

/** The system prompt of each model call in a turn. A function is called once per turn, before its first model call. */
export type Instructions = string | ((ctx: TurnView) => string)

/** Options for the approval of suspended calls. */
export interface ApprovalOptions<P = RegisteredPrincipal> {
  /**
   * Signs suspended calls, so that a call in a store cannot be forged. An approval must then carry the token of its
   * call. Of several secrets the first one signs, and all of them verify. To rotate the secret, put the new one first.
   */
  secret?: string | readonly string[]
  /** How long a suspended call can be approved, in milliseconds. After that it can only be denied. @default no limit */
  expiresIn?: number | undefined
  /**
   * Returns whether a principal of the session's tenant may decide a call. It replaces the default rule, so it applies
   * to the owner too, who may always deny. It is called with the call as it would run, and again with the changed
   * arguments if the decision has some. Anything but `true`, or an error, means no. For calls in sub-agents, the
   * outermost agent's rule applies.
   *
   * @param by.owner the owner of the session
   * @param by.requestedBy who ran the turn that was suspended
   * @default the owner of the session may decide
   */
  canApprove?(
    principal: P,
    call: DecidableCall,
    by: { readonly owner: string | undefined; readonly requestedBy: Identity },
  ): boolean | Promise<boolean>
}

/** The agent's options with their defaults filled in. */
export interface AgentSetup {
  readonly name: string
  readonly formerNames: readonly string[]
  readonly sessionGroup?: string | undefined
  readonly model: KnownModel
  readonly instructions?: Instructions | undefined
  readonly settings: Readonly<Settings>
  readonly context?: StandardSchemaV1 | undefined
  readonly principal?: StandardSchemaV1 | undefined
  readonly owner?: ((principal: unknown) => string | undefined) | undefined
  readonly maxSteps: number
  readonly toolConcurrency: number
  readonly toolTimeout: number
  readonly gracePeriod: number
  readonly onBusy: 'reject' | 'queue'
  readonly readerTimeout: number | false
  readonly sessionIdleTimeout: number | false
  readonly version?: string | undefined
  readonly approvals: ApprovalOptions
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly journal: Journal
  readonly validate?: Validate | undefined
  readonly untrustedSchema?: ReadUntrustedSchema | undefined
  readonly resolveModel?: ResolveModel | undefined
  readonly adaptModel?: AdaptModel | undefined
}

/** The state that all sessions of an agent share. */
export class AgentScope {
  readonly tools = new ToolRegistry()
  readonly fields: Fields = new Map()
  readonly observers = new Observers()
  readonly capabilities = new Capabilities()
  readonly metadata: Record<string, unknown> = {}
  onion: Onion = { agent: [], session: [], turn: [], model: [], tool: [] }
  /** Whether agent hooks are running before their next(). Only then may they register tools. */
  opening = false
  readonly #warned = new Set<string>()

  /** The names that its sessions may be stored under: first the name for new sessions, then earlier names. */
  readonly sessionNames: readonly [string, ...string[]]

  constructor(readonly setup: AgentSetup) {
    const { name, formerNames, sessionGroup } = setup
    this.sessionNames = sessionGroup === undefined ? [name, ...formerNames] : [sessionGroup, name, ...formerNames]
  }

  /** Whether this is a current or former name of the agent. */
  isNamed(name: string): boolean {
    return name === this.setup.name || this.setup.formerNames.includes(name)
  }

  /** Reports an error that no caller is waiting for. */
  report(error: unknown, event: string): void {
    this.observers.emit('observer:error', { type: 'observer:error', event, error })
  }

  warnOnce(key: string, message: string): void {
    if (this.#warned.has(key) || this.#warned.size >= maxWarnings) return
    this.#warned.add(key)
    this.setup.logger.warn(message)
  }
}

/** Clients can name tools, and the names are part of keys. The limit keeps memory and log from growing forever. */
const maxWarnings = 1_000
