import { Kept, type Originals } from './kept.tsx'
import { Name } from './name.tsx'

/** The names of tools for users. */
export function toolLabel(name: string): string {
  return labels.get(name) ?? name
}

const labels: ReadonlyMap<string, string> = new Map([
  ['credit_invoice', 'Credit an invoice'],
  ['handoff', 'Hand off'],
  ['look_up_invoice', 'Look up an invoice'],
  ['look_up_order', 'Look up an order'],
  ['read_skill', 'Read instructions'],
  ['recall', 'Look in earlier conversations'],
  ['refund', 'Refund'],
  ['update_memory', 'Remember'],
])

/** The arguments of a call, by name. A model may send anything. */
export function Fields({ of, originals }: { of: unknown; originals?: Originals | undefined }) {
  if (typeof of !== 'object' || of === null) return null
  return (
    <dl className="fields">
      {entriesOf(of).map(([name, value]) => {
        const text = name === 'amount' && typeof value === 'number' ? `$${value}` : textOf(value)
        return (
          <div key={name}>
            <dt>
              <Name of={fieldNames.get(name) ?? name} />
            </dt>
            <dd dir="auto" {...scroller(text)}>
              <Kept text={text} originals={originals} />
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

/** With the fields of an object in place of the object, such as the notes that are stored. */
function entriesOf(of: object): [name: string, value: unknown][] {
  return Object.entries(of).flatMap(([name, value]): [string, unknown][] =>
    name === 'set' && typeof value === 'object' && value !== null ? Object.entries(value) : [[name, value]],
  )
}

const fieldNames: ReadonlyMap<string, string> = new Map([
  ['orderId', 'Order'],
  ['invoiceId', 'Invoice'],
  ['number', 'Number'],
  ['amount', 'Amount'],
  ['notify', 'Notify'],
  ['skill', 'Skill'],
  ['question', 'Question'],
  ['delivery', 'Deliveries'],
  ['contact', 'Contact'],
  ['name', 'Name'],
  ['remove', 'Forget'],
  ['file', 'File'],
])

/** The result of a call. JSON and long texts, such as a skill, are collapsed. */
export function Output({ value, originals }: { value: unknown; originals?: Originals | undefined }) {
  const data = dataIn(value)
  const text = textOf(value)
  const isShort = !isLong(text) && !text.includes('\n')
  if (data === undefined && isShort) return <OutputText text={text} originals={originals} />
  if (data === undefined)
    return (
      <details>
        <summary>Result</summary>
        <OutputText text={text} originals={originals} />
      </details>
    )
  return (
    <details>
      <summary>Result</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach content that scrolls */}
      <pre tabIndex={0}>{JSON.stringify(data, null, 2)}</pre>
    </details>
  )
}

export interface OutputTextProps {
  text: string
  isError?: boolean
  originals?: Originals | undefined
}

export function OutputText({ text, isError = false, originals }: OutputTextProps) {
  const { tabIndex, className = '' } = scroller(text)
  return (
    <p className={`output ${isError ? 'error-text' : ''} ${className}`} dir="auto" tabIndex={tabIndex}>
      <Kept text={text} originals={originals} />
    </p>
  )
}

function isLong(text: string): boolean {
  return text.length > 400
}

/** A long text scrolls, so the keyboard must reach it. */
function scroller(text: string): { tabIndex?: number; className?: string } {
  return isLong(text) ? { tabIndex: 0, className: 'long' } : {}
}

function dataIn(value: unknown): object | undefined {
  try {
    const data: unknown = typeof value === 'string' ? JSON.parse(value) : value
    return typeof data === 'object' && data !== null ? data : undefined
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
