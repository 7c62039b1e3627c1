import type { MemoryBlockChange, MemoryBlockView } from '@allium/server/memory-client'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { ConfirmedButton } from './confirmed-button.tsx'

export interface NotesProps {
  of: MemoryBlockView
  isOn: boolean
  edit(change: Omit<MemoryBlockChange, 'version'>): void
  remove(): void
}

/** The notes of the agents. While memory is off, they can be deleted but not changed. */
export function Notes({ of: { block, fields }, isOn, edit, remove }: NotesProps) {
  return (
    <section>
      <h3>Notes for all conversations</h3>
      {Object.entries(fields).map(([name, schema]) => {
        const value = typeof block[name] === 'string' ? block[name] : ''
        const save = (text: string) => edit(text === '' ? { remove: [name] } : { set: { [name]: text } })
        return <Note key={name} name={name} schema={schema as FieldSchema} {...{ value, isOn, save }} />
      })}
      {Object.keys(block).length > 0 && (
        <ConfirmedButton label="Delete all notes" question="Delete all of them?" act={remove} />
      )}
    </section>
  )
}

/** The JSON Schema of a text or of a choice. */
interface FieldSchema {
  description?: string
  maxLength?: number
  enum?: readonly string[]
}

interface NoteProps {
  name: string
  schema: FieldSchema
  value: string
  isOn: boolean
  save(text: string): void
}

function Note({ name, schema, value, isOn, save }: NoteProps) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const id = useId()
  const label = schema.description ?? name
  const change = (next: string) => next !== value && save(next)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change(text.trim())
  }
  const shared = {
    ...{ id, value: text, disabled: !isOn },
    onChange: (event: { target: { value: string } }) => setText(event.target.value),
  }
  return (
    <form className="note" onSubmit={submit}>
      <label htmlFor={id}>{label}</label>
      {schema.enum ? (
        <select {...shared}>
          <option value="">–</option>
          {schema.enum.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : (
        <input {...shared} dir="auto" maxLength={schema.maxLength} placeholder="Nothing noted" />
      )}
      {isOn && text.trim() !== value && (
        <button type="submit">
          Save<span className="hidden"> {label}</span>
        </button>
      )}
      {isOn && value !== '' && (
        <button type="button" className="plain" onClick={() => change('')}>
          Forget<span className="hidden"> {label}</span>
        </button>
      )}
    </form>
  )
}
