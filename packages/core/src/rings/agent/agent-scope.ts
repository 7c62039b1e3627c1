import type { StandardSchemaV1 } from '@standard-schema/spec'
import { Observers } from '../../events/observers.ts'
import type { Identity } from '../../messages/approval-record.ts'
import type { AdaptModel, KnownModel, ResolveModel, Settings } from '../../model/model.ts'
import type { Onion } from '../../onion/hook.ts'
import { Capabilities } from '../../seams/capability.ts'
import type { Clock } from '../../seams/clock.ts'
import type { Ids } from '../../seams/ids.ts'
import type { Journal } from '../../seams/journal.ts'
import type { Logger } from '../../seams/logger.ts'
import type { RegisteredPrincipal } from '../../seams/register.ts'
import type { ReadUntrustedSchema } from '../../seams/untrusted-schema.ts'
import type { Validate } from '../../seams/validate.ts'
import type { Fields } from '../../state/field.ts'
import type { DecidableCall } from '../../tool/approval.ts'
import { ToolRegistry } from '../../tool/registry.ts'
import type { TurnContext } from '../turn/context.ts'

/** What each model call of a turn begins with. A function is asked once for each turn, before its first call. */
export type Instructions = string | ((ctx: TurnContext) => string)

/** How calls wait for a human. */
export interface ApprovalOptions<P = RegisteredPrincipal> {
  /**
   * Signs what waits, so that nothing in a store can be forged; then an approval must carry the token of its call. Of several
   * the first signs, and what any of them has signed holds: to change it, put the new one in front.
   */
  secret?: string | readonly string[]
  /** Milliseconds after which a call that waits can only be refused. @default never */
  expiresIn?: number | undefined
  /**
   * Whether somebody of the session's tenant may decide a call: who opens it to others closes it with the same rule to its
   * owner, who may always deny. Asked with the call as it would run; of a decision with other arguments again, with those.
   * Anything but `true`, and what it throws, is a no. Of calls in sub-agents the outermost agent's rule is asked.
   *
   * @param by.owner whose the session is
   * @param by.asked who ran the turn that was suspended
   * @default the owner of the session decides
   */
  mayDecide?(
    principal: P,
    call: DecidableCall,
    by: { readonly owner: string | undefined; readonly asked: Identity },
  ): boolean | Promise<boolean>
}

/** The agent's options with their defaults filled in. */
export interface AgentSetup {
  readonly name: string
  readonly formerNames: readonly string[]
  readonly sessionGroup: string | undefined
  readonly model: KnownModel
  readonly instructions: Instructions | undefined
  readonly settings: Readonly<Settings>
  readonly context: StandardSchemaV1 | undefined
  readonly principal: StandardSchemaV1 | undefined
  readonly owner: ((principal: unknown) => string | undefined) | undefined
  readonly maxSteps: number
  readonly toolConcurrency: number
  readonly toolTimeout: number
  readonly abortGrace: number
  readonly busy: 'reject' | 'queue'
  readonly readerSilence: number | false
  readonly sessionIdle: number | false
  readonly version: string | undefined
  readonly approvals: ApprovalOptions
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly journal: Journal
  readonly validate: Validate | undefined
  readonly untrustedSchema: ReadUntrustedSchema | undefined
  readonly resolveModel: ResolveModel | undefined
  readonly adaptModel: AdaptModel | undefined
}

/** What all sessions of an agent share. */
export class AgentScope {
  readonly tools = new ToolRegistry()
  readonly fields: Fields = new Map()
  readonly observers = new Observers()
  readonly capabilities = new Capabilities()
  readonly metadata: Record<string, unknown> = {}
  onion: Onion = { agent: [], session: [], turn: [], model: [], tool: [] }
  /** Whether agent hooks are on their way in, the one time when tools may be registered by them. */
  opening = false
  readonly #warned = new Set<string>()

  /** The names under which its sessions may be kept: first that of new sessions, then those of earlier ones. */
  readonly sessionNames: readonly [string, ...string[]]

  constructor(readonly setup: AgentSetup) {
    const { name, formerNames, sessionGroup } = setup
    this.sessionNames = sessionGroup === undefined ? [name, ...formerNames] : [sessionGroup, name, ...formerNames]
  }

  /** Whether the agent has this name, or had it. */
  isNamed(name: string): boolean {
    return name === this.setup.name || this.setup.formerNames.includes(name)
  }

  /** Reports an error that nobody waits for. */
  report(error: unknown, event: string): void {
    this.observers.emit('observer:error', { type: 'observer:error', event, error })
  }

  warnOnce(key: string, message: string): void {
    if (this.#warned.has(key) || this.#warned.size >= maxWarnings) return
    this.#warned.add(key)
    this.setup.logger.warn(message)
  }
}

/** Clients name tools, and a name may stand in a key: neither the memory nor the log grows without end. */
const maxWarnings = 1_000
