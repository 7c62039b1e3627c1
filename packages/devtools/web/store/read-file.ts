import { type Attachment, base64Of, maxContent, maxFiles, shownName, size } from './attachments.ts'

/** Reads a file. @throws Error if the message would be larger than the server accepts */
export async function attach(file: File, present: readonly Attachment[]): Promise<Attachment> {
  if (present.length >= maxFiles) throw new Error(`A message has at most ${maxFiles} files.`)
  if (file.size === 0) throw new Error(`${shownName(file.name)} is empty.`)
  const total = present.reduce((sum, { data }) => sum + data.length, 0) + Math.ceil(file.size / 3) * 4
  if (total > maxContent)
    throw new Error(
      `${shownName(file.name)} does not fit: the files of a message have at most ${size(maxContent * 0.75)} in all.`,
    )
  const data = base64Of(await dataUrl(file))
  const mediaType = /^[\w.+-]+\/[\w.+-]+/.exec(file.type)?.[0] ?? 'application/octet-stream'
  const type = mediaType.startsWith('image/') ? 'image' : 'file'
  return { type, mediaType, data, name: file.name.slice(0, 255), bytes: file.size }
}

export function dataUrl(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result as string)
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}
