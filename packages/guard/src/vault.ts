import {
  type DisplayContext,
  type DisplayText,
  type Message,
  sessionKeyOf,
  sharedStore,
  type TurnContext,
  type Vault,
  type Writer,
} from '@allium/core'
import { LRUCache } from 'lru-cache'

/** Keeps what placeholders stand for, by session: in a store of your own, encrypted as its content deserves. */
export interface PiiVault extends Vault {}

type Place = Pick<TurnContext, 'find' | 'sessionKey'> & { readonly history: readonly Message[] }

/** The placeholders of the last sessions. */
export class OpenVaults {
  readonly #layer: string
  readonly #vault: Vault | undefined
  #open: LRUCache<string, Promise<Placeholders>> | undefined

  constructor(layer: string, vault: Vault | undefined) {
    this.#layer = layer
    this.#vault = vault
  }

  /** Where they are kept beyond this process, if they are. */
  vaultOf(ctx: Pick<Place, 'find'>): Vault | undefined {
    return this.#vault ?? ctx.find(sharedStore)?.vault
  }

  /** Those of a session, the same for all who ask. A new turn looks into the vault again: another process may have run the last one. */
  of(ctx: Place, { isNewTurn = false } = {}): Promise<Placeholders> {
    const key = this.#keyOf(ctx)
    // Made by the first session: it takes its room at once.
    this.#open ??= new LRUCache({ max: 10_000, ttl: 24 * 3_600_000, updateAgeOnGet: true })
    const vault = this.vaultOf(ctx)
    const known = isNewTurn && vault !== undefined ? undefined : this.#open.get(key)
    if (known !== undefined) return isNewTurn ? known.then((names) => names.after(ctx.history)) : known
    const opened = Placeholders.open(key, vault, ctx)
    this.#open.set(key, opened)
    opened.catch(() => this.#open?.delete(key))
    return opened
  }

  /** Those of a session that nobody runs here: read alone, so that a run which goes on keeps its own. */
  async read(ctx: DisplayContext): Promise<Placeholders | undefined> {
    const key = this.#keyOf(ctx)
    const vault = this.vaultOf(ctx)
    return vault === undefined ? this.#open?.get(key) : Placeholders.open(key, vault)
  }

  #keyOf(ctx: Pick<Place, 'sessionKey'>): string {
    return `${this.#layer}:${sessionKeyOf(ctx)}`
  }
}

/** The placeholders of a session, with what they stand for. */
export class Placeholders {
  readonly #key: string
  readonly #vault: Vault | undefined
  readonly #values = new Map<string, string>()
  readonly #names = new Map<string, string>()
  readonly #last = new Map<string, number>()
  /** What came in with the input. Who writes a placeholder does not bring its value. */
  readonly #own = new Set<string>()
  readonly #numbers = new Set<string>()
  /** So much was there to save when it was saved last. */
  #saved = 0
  #saving: Promise<unknown> = Promise.resolve()
  /** Messages of the history whose placeholders are known. */
  #read = 0

  static async open(
    key: string,
    vault: Vault | undefined,
    { history }: Pick<Place, 'history'> = { history: [] },
  ): Promise<Placeholders> {
    const placeholders = new Placeholders(key, vault)
    const { numbers = '', own = '', ...values } = (await vault?.load(key)) ?? {}
    for (const [name, value] of Object.entries(values)) placeholders.#keep(name, value)
    for (const name of numbers.match(pattern) ?? []) placeholders.#numbers.add(name)
    for (const name of own.match(pattern) ?? []) placeholders.#own.add(name)
    placeholders.#saved = placeholders.#size
    return placeholders.after(history)
  }

  private constructor(key: string, vault: Vault | undefined) {
    this.#key = key
    this.#vault = vault
  }

  /** Numbers go on behind those of the history, so that none comes to mean another value: an answer from a cache brings its own. */
  after(history: Place['history']): this {
    if (history.length < this.#read) this.#read = 0
    for (; this.#read < history.length; this.#read++)
      // A text may name any number. A larger one does not count, or there would be none left for the next value.
      for (const [name, , number] of JSON.stringify(history[this.#read]).matchAll(pattern))
        if (Number(number) < 1e8) this.#count(name)
    return this
  }

  /** The same for the same value: `[EMAIL_1]`. */
  nameOf(type: string, value: string, { isOwn = false, isNumber = false } = {}): string {
    const known = this.#names.get(`${type}:${value}`)
    const name = known ?? `[${type.toUpperCase()}_${(this.#last.get(type) ?? 0) + 1}]`
    if (known === undefined) this.#keep(name, value)
    if (isOwn) this.#own.add(name)
    if (isNumber) this.#numbers.add(name)
    return name
  }

  isNumber(name: string): boolean {
    return this.#numbers.has(name)
  }

  /** A text for the reader, with values in it: a placeholder may come in pieces. */
  shown(types: ReadonlySet<string>, which: 'own' | 'all'): DisplayText {
    const show = (text: string) => this.show(text, types, which)
    let kept = ''
    return {
      push(piece) {
        const text = kept + piece
        const at = text.length - (openName.exec(text.slice(-60))?.[0].length ?? 0)
        kept = text.slice(at)
        return show(text.slice(0, at))
      },
      end: () => show(kept),
    }
  }

  /** A whole text for the reader. */
  show(text: string, types: ReadonlySet<string>, which: 'own' | 'all'): string {
    return text.replace(pattern, (name, type: string) => {
      const isShown = types.has(type.toLowerCase()) && (which === 'all' || this.#own.has(name))
      return (isShown ? this.#values.get(name) : undefined) ?? name
    })
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
  save(by: Writer): Promise<void> {
    const saving = this.#saving.then(() => this.#save(by))
    this.#saving = saving.catch(() => {})
    return saving
  }

  async #save(by: Writer): Promise<void> {
    const size = this.#size
    if (size === this.#saved) return
    const [numbers, own] = [this.#numbers, this.#own].map((names) => [...names].join(' '))
    const values = { ...Object.fromEntries(this.#values), ...(numbers && { numbers }), ...(own && { own }) }
    await this.#vault?.save(this.#key, values, by)
    this.#saved = size
  }

  get #size(): number {
    return this.#values.size + this.#numbers.size + this.#own.size
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

/** The beginning of a placeholder at the end of a text. */
const openName = /\[(?:[A-Z][A-Z0-9_]{0,50})?$/
const pattern = /\[([A-Z][A-Z0-9_]{0,40})_(\d{1,9})\]/g
