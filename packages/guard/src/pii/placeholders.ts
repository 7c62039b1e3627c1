import { type DisplayContext, type Message, sessionKeyOf, type TurnView, type Writer } from '@allium/core'
import type { DisplayText } from '@allium/core/internal'
import { sharedStore, type Vault } from '@allium/store'
import { LRUCache } from 'lru-cache'

/** Stores the values of placeholders, by session: in your own store, encrypted as the content requires. */
export interface PiiVault extends Vault {}

type VaultContext = Pick<TurnView, 'find' | 'sessionKey'> & { readonly history: readonly Message[] }

/** The placeholders of recent sessions. */
export class PlaceholderVaults {
  readonly #layer: string
  readonly #vault: Vault | undefined
  #cache: LRUCache<string, Placeholders> | undefined

  constructor(layer: string, vault: Vault | undefined) {
    this.#layer = layer
    this.#vault = vault
  }

  /** Returns the vault outside of this process, if there is one. */
  vaultFor(ctx: Pick<VaultContext, 'find'>): Vault | undefined {
    return this.#vault ?? ctx.find(sharedStore)?.vault
  }

  /**
   * Returns the placeholders of a session, shared by all callers; a promise while they are loaded. A new turn reads the vault again,
   * because another process may have run the last one, but not before it needs a value.
   */
  get(ctx: VaultContext, { isNewTurn = false } = {}): Placeholders | Promise<Placeholders> {
    const key = this.#keyOf(ctx)
    // Created by the first session, because the cache allocates its memory at once. Without the resolution it sets a timer in each turn.
    this.#cache ??= new LRUCache({ max: 10_000, ttl: 24 * 3_600_000, ttlResolution: 0, updateAgeOnGet: true })
    const vault = this.vaultFor(ctx)
    const known = isNewTurn && vault !== undefined ? undefined : this.#cache.get(key)
    if (known !== undefined && !isNewTurn) return known.opened()
    const placeholders = known ?? new Placeholders(key, vault)
    this.#cache.set(key, placeholders)
    return placeholders.advancePast(ctx.history).opened()
  }

  /** Returns the placeholders of a session that no run here has opened. It only reads, so that a running run keeps its own. */
  async read(ctx: DisplayContext): Promise<Placeholders | undefined> {
    const key = this.#keyOf(ctx)
    const vault = this.vaultFor(ctx)
    return vault === undefined ? this.#cache?.get(key) : new Placeholders(key, vault).load()
  }

  #keyOf(ctx: Pick<VaultContext, 'sessionKey'>): string {
    return `${this.#layer}:${sessionKeyOf(ctx)}`
  }
}

/** The placeholders of a session and their values. */
export class Placeholders {
  readonly #key: string
  readonly #vault: Vault | undefined
  readonly #values = new Map<string, string>()
  readonly #placeholderNames = new Map<string, string>()
  readonly #lastNumbers = new Map<string, number>()
  /** The values from the input. Writing a placeholder in the input does not add its value. */
  readonly #fromInput = new Set<string>()
  readonly #numbers = new Set<string>()
  /** The number of values at the last save. */
  #savedSize = 0
  #saving: Promise<unknown> = Promise.resolve()
  #loading: Promise<this> | undefined
  #isLoaded = false
  /** The number of history messages whose placeholders are known. */
  #readMessages = 0

  constructor(key: string, vault: Vault | undefined) {
    this.#key = key
    this.#vault = vault
  }

  /** Loads the values if a text of the session names a placeholder. Other sessions wait for the first value. */
  opened(): Placeholders | Promise<Placeholders> {
    return this.#lastNumbers.size === 0 ? this : this.load()
  }

  /** Reads the vault once. Without a vault, or afterward, it returns at once. */
  load(): Placeholders | Promise<Placeholders> {
    if (this.#isLoaded || this.#vault === undefined) return this
    this.#loading ??= this.#load(this.#vault).finally(() => (this.#loading = undefined))
    return this.#loading
  }

  async #load(vault: Vault): Promise<this> {
    const { numbers = '', own = '', ...values } = (await vault.load(this.#key)) ?? {}
    for (const [name, value] of Object.entries(values)) this.#add(name, value)
    for (const name of numbers.match(pattern) ?? []) this.#numbers.add(name)
    for (const name of own.match(pattern) ?? []) this.#fromInput.add(name)
    this.#savedSize = this.#size
    this.#isLoaded = true
    return this
  }

  /**
   * Numbers continue after those in the history, so that no placeholder changes its value. A cached answer may contain its own
   * placeholders.
   */
  advancePast(history: VaultContext['history']): this {
    if (history.length < this.#readMessages) this.#readMessages = 0
    for (; this.#readMessages < history.length; this.#readMessages++)
      // A text may contain any number. Larger ones do not count, because they would leave no number for the next value.
      for (const text of bracketedTexts(history[this.#readMessages] as Message))
        for (const [name, , number] of text.matchAll(pattern)) if (Number(number) < 1e8) this.#reserveNumber(name)
    return this
  }

  /** Returns the same placeholder for the same value: `[EMAIL_1]`. Load the values first. */
  placeholderFor(type: string, value: string, { isOwn: isFromInput = false, isNumber = false } = {}): string {
    const known = this.#placeholderNames.get(`${type}:${value}`)
    const name = known ?? `[${type.toUpperCase()}_${(this.#lastNumbers.get(type) ?? 0) + 1}]`
    if (known === undefined) this.#add(name, value)
    if (isFromInput) this.#fromInput.add(name)
    if (isNumber) this.#numbers.add(name)
    return name
  }

  isNumber(name: string): boolean {
    return this.#numbers.has(name)
  }

  /** Puts values into the text for the reader. A placeholder may arrive in pieces. */
  displayTransform(types: ReadonlySet<string>, visibility: 'own' | 'all'): DisplayText {
    const reveal = (text: string) => this.reveal(text, types, visibility)
    let buffered = ''
    return {
      push(piece) {
        const text = buffered + piece
        const at = text.length - (partialPlaceholder.exec(text.slice(-60))?.[0].length ?? 0)
        buffered = text.slice(at)
        return reveal(text.slice(0, at))
      },
      end: () => reveal(buffered),
    }
  }

  /** Puts values into a whole text for the reader. */
  reveal(text: string, types: ReadonlySet<string>, visibility: 'own' | 'all'): string {
    return text.replace(pattern, (name, type: string) => {
      const isVisible = types.has(type.toLowerCase()) && (visibility === 'all' || this.#fromInput.has(name))
      return (isVisible ? this.#values.get(name) : undefined) ?? name
    })
  }

  /** Returns the text with placeholders replaced by their values. `onUnknown` receives placeholders without a value. */
  restore(text: string, types: ReadonlySet<string>, onUnknown: (name: string) => void): string {
    return text.replace(pattern, (name, type: string) => {
      if (!types.has(type.toLowerCase())) return name
      const value = this.#values.get(name)
      if (value === undefined) onUnknown(name)
      return value ?? name
    })
  }

  /**
   * Saves one at a time, so that an older save never finishes last. Values that could not be saved are saved next time. Returns undefined
   * if there is nothing to save.
   */
  save(by: Writer): Promise<void> | undefined {
    if (this.#size === this.#savedSize) return undefined
    const saving = this.#saving.then(() => this.#save(by))
    this.#saving = saving.catch(() => {})
    return saving
  }

  async #save(by: Writer): Promise<void> {
    const size = this.#size
    if (size === this.#savedSize) return
    const [numbers, own] = [this.#numbers, this.#fromInput].map((placeholders) => [...placeholders].join(' '))
    const values = { ...Object.fromEntries(this.#values), ...(numbers && { numbers }), ...(own && { own }) }
    await this.#vault?.save(this.#key, values, by)
    this.#savedSize = size
  }

  get #size(): number {
    return this.#values.size + this.#numbers.size + this.#fromInput.size
  }

  #add(name: string, value: string): void {
    const type = this.#reserveNumber(name)
    this.#values.set(name, value)
    this.#placeholderNames.set(`${type}:${value}`, name)
  }

  #reserveNumber(name: string): string {
    const [, type = '', number] = new RegExp(pattern.source).exec(name) ?? []
    const key = type.toLowerCase()
    this.#lastNumbers.set(key, Math.max(this.#lastNumbers.get(key) ?? 0, Number(number)))
    return key
  }
}

/** Returns the texts of a message that may contain placeholders. A message of plain texts, as most are, is not serialized. */
function bracketedTexts({ content }: Message): readonly string[] {
  if (typeof content === 'string') return content.includes('[') ? [content] : none
  let texts: string[] | undefined
  for (const part of content) {
    const isText = part.type === 'text' && part.providerMetadata === undefined
    const text = isText ? part.text : JSON.stringify(part)
    if (text.includes('[')) (texts ??= []).push(text)
  }
  return texts ?? none
}

const none: readonly string[] = []

/** The beginning of a placeholder at the end of a text. */
const partialPlaceholder = /\[(?:[A-Z][A-Z0-9_]{0,50})?$/
const pattern = /\[([A-Z][A-Z0-9_]{0,40})_(\d{1,9})\]/g
