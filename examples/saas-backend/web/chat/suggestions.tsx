import type { Me } from '../shared/api.ts'

/** What one could ask first. */
export function Suggestions({ me, send }: { me: Me; send(text: string): unknown }) {
  const all = me.refunds ? business : starter
  return (
    <div className="empty">
      <h1>Hello {me.name}.</h1>
      <p className="quiet">
        Ask about an order of {me.tenant}. Refunds above what your plan allows wait for your decision.
      </p>
      <ul className="suggestions">
        {all.map(([label, text]) => (
          <li key={label}>
            <button type="button" onClick={() => send(text)}>
              <strong>{label}</strong>
              <span className="quiet">{text}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

const business = [
  ['Find an order', 'Where is order A-1042?'],
  ['Refund a dented stove', 'Refund the dented camp stove of A-1042, and tell ann@acme.example.'],
  ['A long answer', 'Explain the returns policy.'],
  ['What others wrote', 'What does the note on A-1043 say?'],
] as const
const starter = [
  ['Find an order', 'Show me order G-2001.'],
  ['An order of somebody else', 'Show me order A-1042, please.'],
  ['A refund', 'Please refund both sensors.'],
  ['A long answer', 'Explain the returns policy.'],
] as const
