/** A placeholder of the console's first page. */

export function Home() {
  return (
    <main data-state="ready">
      <h1>Fleet</h1>
    </main>
  );
}
