/** A whole number. Its digits stand in groups for the eye alone: its text, for copying and searching, has digits only. */

export function Num({ value }: { value: number }) {
  const text = String(value);
  if (text.length < 5) return <span class="num">{text}</span>;
  const head = text.length % 3 || 3;
  const groups = [text.slice(0, head)];
  for (let at = head; at < text.length; at += 3) groups.push(text.slice(at, at + 3));
  return (
    <span class="num">
      {groups.map((group, index) => (
        <span key={index} class={index === 0 ? '' : 'digits'}>
          {group}
        </span>
      ))}
    </span>
  );
}
