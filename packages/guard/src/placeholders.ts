import type { Message, TurnContext, Writer } from '@allium/core'
import type { DisplayText } from '@allium/core/internal'
import type { Vault } from '@allium/store'

export type VaultContext = Pick<TurnContext, 'find' | 'sessionKey'> & { readonly history: readonly Message[] }

interface KnownPlaceholders {
  readonly values: Map<string, string>
  /** By type and value. */
  readonly names: Map<string, string>
  readonly lastNumbers: Map<string, number>
  /** The values from the input. Writing a placeholder in the input does not add its value. */
  readonly fromInput: Set<string>
  readonly numbers: Set<string>
}

/** The placeholders of a session and their values. */
export class Placeholders {
  readonly #key: string
  readonly #vault: Vault | undefined
  /** Undefined before the first placeholder, because most sessions never have one and thousands of them are cached. */
  #known: KnownPlaceholders | undefined
  /** The number of values at the last save. */
  #savedSize = 0
  #saving: Promise<unknown> | undefined
  /** The number of history messages whose placeholders are known. */
  #readMessages = 0

  static async open(
    key: string,
    vault: Vault | undefined,
    { history }: Pick<VaultContext, 'history'> = { history: [] },
  ): Promise<Placeholders> {
    const placeholders = new Placeholders(key, vault)
    const { numbers = '', own = '', ...values } = (await vault?.load(key)) ?? {}
    for (const [name, value] of Object.entries(values)) placeholders.#add(name, value)
    for (const name of numbers.match(pattern) ?? []) placeholders.#writable.numbers.add(name)
    for (const name of own.match(pattern) ?? []) placeholders.#writable.fromInput.add(name)
    placeholders.#savedSize = placeholders.#size
    return placeholders.advancePast(history)
  }

  private constructor(key: string, vault: Vault | undefined) {
    this.#key = key
    this.#vault = vault
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

  /** Returns the same placeholder for the same value: `[EMAIL_1]`. */
  placeholderFor(type: string, value: string, { isOwn: isFromInput = false, isNumber = false } = {}): string {
    const { names, lastNumbers, fromInput, numbers } = this.#writable
    const known = names.get(`${type}:${value}`)
    const name = known ?? `[${type.toUpperCase()}_${(lastNumbers.get(type) ?? 0) + 1}]`
    if (known === undefined) this.#add(name, value)
    if (isFromInput) fromInput.add(name)
    if (isNumber) numbers.add(name)
    return name
  }

  isNumber(name: string): boolean {
    return this.#known?.numbers.has(name) ?? false
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
      const isVisible = types.has(type.toLowerCase()) && (visibility === 'all' || this.#known?.fromInput.has(name))
      return (isVisible ? this.#known?.values.get(name) : undefined) ?? name
    })
  }

  /** Returns the text with placeholders replaced by their values. `onUnknown` receives placeholders without a value. */
  restore(text: string, types: ReadonlySet<string>, onUnknown: (name: string) => void): string {
    return text.replace(pattern, (name, type: string) => {
      if (!types.has(type.toLowerCase())) return name
      const value = this.#known?.values.get(name)
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
    const saving = (this.#saving ?? Promise.resolve()).then(() => this.#save(by))
    this.#saving = saving.catch(() => {})
    return saving
  }

  async #save(by: Writer): Promise<void> {
    const size = this.#size
    if (size === this.#savedSize) return
    const { values, ...rest } = this.#writable
    const [numbers, own] = [rest.numbers, rest.fromInput].map((placeholders) => [...placeholders].join(' '))
    const saved = { ...Object.fromEntries(values), ...(numbers && { numbers }), ...(own && { own }) }
    await this.#vault?.save(this.#key, saved, by)
    this.#savedSize = size
  }

  get #size(): number {
    if (this.#known === undefined) return 0
    const { values, numbers, fromInput } = this.#known
    return values.size + numbers.size + fromInput.size
  }

  get #writable(): KnownPlaceholders {
    return (this.#known ??= {
      values: new Map(),
      names: new Map(),
      lastNumbers: new Map(),
      fromInput: new Set(),
      numbers: new Set(),
    })
  }

  #add(name: string, value: string): void {
    const type = this.#reserveNumber(name)
    this.#writable.values.set(name, value)
    this.#writable.names.set(`${type}:${value}`, name)
  }

  #reserveNumber(name: string): string {
    const [, type = '', number] = new RegExp(pattern.source).exec(name) ?? []
    const key = type.toLowerCase()
    const { lastNumbers } = this.#writable
    lastNumbers.set(key, Math.max(lastNumbers.get(key) ?? 0, Number(number)))
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
