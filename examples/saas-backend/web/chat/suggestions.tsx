import type { Me } from '../shared/api.ts'
import { Name } from '../shared/name.tsx'

/** Questions for a new conversation. */
export function Suggestions({ me, send }: { me: Me; send(text: string): unknown }) {
  const all = me.refunds ? business : starter
  return (
    <div className="empty">
      <h1>
        Hello <Name of={me.name} />.
      </h1>
      <p className="quiet">
        Ask about an order of <Name of={me.tenant} />.{' '}
        {me.refunds &&
          'Small refunds are paid immediately. You approve larger ones yourself, and an admin approves the largest.'}
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
  ['Refund a dented stove', 'Refund the dented camp stove of A-1042, and notify ann@acme.example.'],
  ['A refund that an admin approves', 'Refund three of the camp stoves of A-1042, and notify ann@acme.example.'],
  ['Another agent takes over', 'I was charged twice for express shipping on A-1042.'],
  ['A long answer', 'Explain the returns policy.'],
  ['Instructions for a task', 'My order A-1043 has not arrived.'],
  ['Something to remember', 'Please remember that I take deliveries only before noon.'],
  ['A note from someone else', 'What does the note on A-1043 say?'],
  ['When something fails', 'What happens when the model is down?'],
] as const
const starter = [
  ['Find an order', 'Show me order G-2001.'],
  ['An order of another company', 'Show me order A-1042, please.'],
  ['A refund', 'Please refund both sensors.'],
  ['Another agent takes over', 'Can I have the invoice of G-2001?'],
  ['A long answer', 'Explain the returns policy.'],
] as const
