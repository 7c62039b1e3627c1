import { useState } from 'react'

export interface ConfirmedButtonProps {
  label: string
  /** Says what it deletes. */
  question: string
  act(): void
}

/** A button that asks once more before it deletes. */
export function ConfirmedButton({ label, question, act }: ConfirmedButtonProps) {
  const [isAsking, setAsking] = useState(false)
  if (!isAsking)
    return (
      <button type="button" className="danger" onClick={() => setAsking(true)}>
        {label}
      </button>
    )
  const decide = (isSure: boolean) => () => {
    setAsking(false)
    if (isSure) act()
  }
  return (
    <fieldset className="confirm">
      <legend className="hidden">{label}</legend>
      <span>{question} </span>
      {/* biome-ignore lint/a11y/noAutofocus: the button that had the focus is gone */}
      <button type="button" autoFocus onClick={decide(false)}>
        Keep
      </button>
      <button type="button" className="danger" onClick={decide(true)}>
        Delete
      </button>
    </fieldset>
  )
}
