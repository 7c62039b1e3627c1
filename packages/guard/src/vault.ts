import { sessionKeyOf, type TurnContext } from '@allium/core'
import { LRUCache } from 'lru-cache'

/** Keeps what placeholders stand for, by session: in a store of your own, encrypted as its content deserves. */
export interface PiiVault {
  /** The values by placeholder. The key carries layer, tenant, owner and session. */
  load(key: string): Values | undefined | Promise<Values | undefined>
  /** All values of the session. */
  save(key: string, values: Values): void | Promise<void>
}

type Values = Readonly<Record<string, string>>
type Place = Pick<TurnContext, 'history' | 'owner' | 'principal' | 'sessionId'>

/** The placeholders of the last sessions. */
export class OpenVaults {
  readonly #layer: string
  readonly #vault: PiiVault | undefined
  readonly #open = new LRUCache<string, Promise<Placeholders>>({
    max: 10_000,
    ttl: 24 * 3_600_000,
    updateAgeOnGet: true,
  })

  constructor(layer: string, vault: PiiVault | undefined) {
    this.#layer = layer
    this.#vault = vault
  }

  /** Those of a session, the same for all who ask. A new turn looks into the vault again: another process may have run the last one. */
  of(ctx: Place, { isNewTurn = false } = {}): Promise<Placeholders> {
    const key = `${this.#layer}:${sessionKeyOf(ctx)}`
    const known = isNewTurn && this.#vault !== undefined ? undefined : this.#open.get(key)
    if (known !== undefined) return isNewTurn ? known.then((names) => names.after(ctx.history)) : known
    const opened = Placeholders.open(key, this.#vault, ctx)
    this.#open.set(key, opened)
    opened.catch(() => this.#open.delete(key))
    return opened
  }
}

/** The placeholders of a session, with what they stand for. */
export class Placeholders {
  readonly #key: string
  readonly #vault: PiiVault | undefined
  readonly #values = new Map<string, string>()
  readonly #names = new Map<string, string>()
  readonly #last = new Map<string, number>()
  #saved = 0
  #saving: Promise<unknown> = Promise.resolve()
  /** Messages of the history whose placeholders are known. */
  #read = 0

  static async open(key: string, vault: PiiVault | undefined, { history }: Place): Promise<Placeholders> {
    const placeholders = new Placeholders(key, vault)
    const values = await vault?.load(key)
    for (const [name, value] of Object.entries(values ?? {})) placeholders.#keep(name, value)
    placeholders.#saved = placeholders.#values.size
    return placeholders.after(history)
  }

  private constructor(key: string, vault: PiiVault | undefined) {
    this.#key = key
    this.#vault = vault
  }

  /** Numbers go on behind those of the history, so that none comes to mean another value: an answer from a cache brings its own. */
  after(history: Place['history']): this {
    if (history.length < this.#read) this.#read = 0
    for (; this.#read < history.length; this.#read++)
      for (const [name] of JSON.stringify(history[this.#read]).matchAll(pattern)) this.#count(name)
    return this
  }

  /** The same for the same value: `[EMAIL_1]`. */
  nameOf(type: string, value: string): string {
    const known = this.#names.get(`${type}:${value}`)
    if (known !== undefined) return known
    const name = `[${type.toUpperCase()}_${(this.#last.get(type) ?? 0) + 1}]`
    this.#keep(name, value)
    return name
  }

  /** The text with the values of placeholders in their place; `unknown` is told of those that have none. */
  restore(text: string, types: ReadonlySet<string>, unknown: (name: string) => void): string {
    return text.replace(pattern, (name, type: string) => {
      if (!types.has(type.toLowerCase())) return name
      const value = this.#values.get(name)
      if (value === undefined) unknown(name)
      return value ?? name
    })
  }

  /** One save after the other, so that an older one never ends last; what could not be saved is saved with the next. */
  save(): Promise<void> {
    const saving = this.#saving.then(() => this.#save())
    this.#saving = saving.catch(() => {})
    return saving
  }

  async #save(): Promise<void> {
    const { size } = this.#values
    if (size === this.#saved) return
    await this.#vault?.save(this.#key, Object.fromEntries(this.#values))
    this.#saved = size
  }

  #keep(name: string, value: string): void {
    const type = this.#count(name)
    this.#values.set(name, value)
    this.#names.set(`${type}:${value}`, name)
  }

  #count(name: string): string {
    const [, type = '', number] = new RegExp(pattern.source).exec(name) ?? []
    const key = type.toLowerCase()
    this.#last.set(key, Math.max(this.#last.get(key) ?? 0, Number(number)))
    return key
  }
}

const pattern = /\[([A-Z][A-Z0-9_]{0,40})_(\d{1,9})\]/g
