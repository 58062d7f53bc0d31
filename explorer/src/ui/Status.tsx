/** What stands where nothing could be loaded, or not yet. */
export function Status({ error, loading, again }: { error: string | null; loading: boolean; again: () => void }) {
  if (error) {
    return (
      <div class="empty" role="alert">
        <p>{error}</p>
        <button type="button" onClick={again}>Try again</button>
      </div>
    );
  }
  return loading ? <p class="quiet foot">Loading…</p> : null;
}
