/**
 * The line that sets up OpenDSC's agent on Windows for this server, and the same as a script. It runs in Windows PowerShell
 * 5.1 and in PowerShell 7, so it uses nothing that only one of them has. It is ASCII, because 5.1 takes a file for ANSI.
 */

import type { JoinFacts, JoinLine } from './join-facts.ts';

/** Each statement ends with a semicolon, so that all can stand in one line. Lines of comment are for the script alone. */
const LINES = [
  "$ErrorActionPreference = 'Stop';",
  "if ($env:OS -ne 'Windows_NT') { throw 'hawser: this line is for Windows.' };",
  "$admins = New-Object Security.Principal.SecurityIdentifier 'S-1-5-32-544';",
  '$me = New-Object Security.Principal.WindowsPrincipal ([Security.Principal.WindowsIdentity]::GetCurrent());',
  "if (-not $me.IsInRole($admins)) { throw 'hawser: this needs an administrator. Open PowerShell by Run as administrator, and paste the line again.' };",
  'if ($note) { Write-Warning $note };',
  "$folder = Join-Path $env:ProgramData 'OpenDSC\\LCM'; $file = Join-Path $folder 'appsettings.json';",

  '# Reads what the agent has kept of its server: the address, and the id of the node once it is one.',
  '$read = { if (Test-Path -LiteralPath $file) { (ConvertFrom-Json ([IO.File]::ReadAllText($file))).LCM.PullServer } };',
  "try { $old = & $read } catch { throw ('hawser: ' + $file + ' is no JSON. Correct it or move it away, and paste the line again. ' + $_) };",
  '# A machine that is a node of this server already stays as it is.',
  "if ($old -and $old.NodeId -and ([string]$old.ServerUrl).TrimEnd('/') -eq $server) { Write-Output ('This machine is node ' + $old.NodeId + ' of ' + $server + ' already. Nothing was changed.'); return };",
  "if (-not (Get-Service -Name OpenDscLcm -ErrorAction SilentlyContinue)) { throw 'hawser: the agent of OpenDSC is not installed. Run winget install OpenDsc.Lcm, and paste the line again.' };",

  '# Gets the authority of the server. The connection is not trusted yet, so nothing else is asked for on it, and only the name is looked at.',
  "$accepts = if ($trust -eq 'system') { { param($s, $c, $n, $faults) [int]$faults -eq 0 } } else { { param($s, $c, $n, $faults) ([int]$faults -band 3) -eq 0 } };",
  '$uri = New-Object Uri $server; $tcp = New-Object Net.Sockets.TcpClient;',
  'try { $tcp.Connect($uri.DnsSafeHost, $uri.Port); $tcp.ReceiveTimeout = 60000;',
  '$tls = New-Object Net.Security.SslStream($tcp.GetStream(), $false, [Net.Security.RemoteCertificateValidationCallback]$accepts);',
  '$tls.AuthenticateAsClient($uri.DnsSafeHost, $null, [Security.Authentication.SslProtocols]::Tls12, $false);',
  '$ask = [Text.Encoding]::ASCII.GetBytes("GET /api/v1/ca.pem HTTP/1.1`r`nHost: $($uri.Authority)`r`nConnection: close`r`n`r`n"); $tls.Write($ask, 0, $ask.Length);',
  '$reply = (New-Object IO.StreamReader($tls, [Text.Encoding]::ASCII)).ReadToEnd() }',
  "catch { throw ('hawser: ' + $server + ' cannot be reached by TLS under this name: ' + $_) } finally { $tcp.Close() };",

  "if ($trust -ne 'system') {",
  "if ($reply -notmatch '(?s)-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----') { throw ('hawser: ' + $server + ' shows no authority.') };",
  '$ca = New-Object Security.Cryptography.X509Certificates.X509Certificate2(,[Convert]::FromBase64String($Matches[1]));',
  "$found = [BitConverter]::ToString([Security.Cryptography.SHA256]::Create().ComputeHash($ca.RawData)) -replace '-', '';",
  '# The comparison: this SHA-256 is what makes the authority trustworthy.',
  "if ($found -ne $trust) { throw ('hawser: the authority of ' + $server + ' is not the one that this line trusts. Nothing was changed. Ask for a new line, or look who answers there.') };",
  '# The agent trusts nothing but Cert:\\LocalMachine\\Root.',
  "$store = New-Object Security.Cryptography.X509Certificates.X509Store('Root', 'LocalMachine'); $store.Open('ReadWrite'); $store.Add($ca); $store.Close();",
  "Write-Output ('The authority ' + $found + ' is in Cert:\\LocalMachine\\Root.') };",

  '# Writes the settings. The agent reads the key in the clear only, so SYSTEM (S-1-5-18) and Administrators (S-1-5-32-544) alone may read the file, before anything is in it.',
  "Stop-Service -Name OpenDscLcm -Force; [void](New-Item -ItemType Directory -Force -Path $folder); $new = $file + '.new';",
  "[IO.File]::WriteAllText($new, ''); foreach ($words in @('/inheritance:r', '/grant:r', '*S-1-5-18:F', '*S-1-5-32-544:F'), @('/setowner', '*S-1-5-32-544')) {",
  "[void](icacls.exe $new $words); if ($LASTEXITCODE -ne 0) { throw ('hawser: icacls could not protect ' + $new + '. Nothing was written.') } };",
  '[IO.File]::WriteAllText($new, $settings);',
  "if (Test-Path -LiteralPath $file) { Move-Item -LiteralPath $file -Destination ($file + '.before') -Force; Write-Output ('The settings that were there are in ' + $file + '.before') };",
  'Move-Item -LiteralPath $new -Destination $file -Force;',
  "Set-Service -Name OpenDscLcm -StartupType Automatic; Start-Service -Name OpenDscLcm; Write-Output 'The service OpenDscLcm runs. It registers the machine now.';",
  "if (-not (Get-Command dsc -ErrorAction SilentlyContinue)) { Write-Warning 'dsc is not found. The agent needs it: winget install Microsoft.DSC' };",

  '# The agent writes the id of the node into its settings when it has registered.',
  'for ($i = 0; $i -lt 60; $i++) { Start-Sleep -Seconds 1; try { $now = & $read } catch { $now = $null };',
  "if ($now -and $now.NodeId) { Write-Output ('This machine is node ' + $now.NodeId + ' of ' + $server + '.'); return } };",
  "throw 'hawser: the agent has not registered within a minute. Get-WinEvent -ProviderName OpenDsc.Lcm -MaxEvents 20 shows why. If the key was refused, make another key, and run its line.'",
];

export function powershellJoin({ server, trust, note }: JoinFacts, key: string): JoinLine {
  const settings = {
    LCM: { ConfigurationSource: 'Pull', PullServer: { ServerUrl: server, RegistrationKey: key } },
  };
  const given = Object.entries({ server, trust, note: note ?? '', settings: JSON.stringify(settings) }).map(
    ([name, value]) => `$${name} = ${quoted(value)};`,
  );
  const code = LINES.filter((line) => !line.startsWith('#'));
  return {
    // In a block of its own it changes nothing in the session into which it is pasted.
    line: `& { ${[...given, ...code].join(' ')} }`,
    script: `# Sets up OpenDSC's agent on this Windows machine for a server of Hawser. Run it as administrator.
# The registration key is in this file. Delete the file when the machine has joined.
& {
# The address of the server, the SHA-256 of its authority, a note, and the settings of the agent.
${[...given, ...LINES].join('\n')}
}
`,
  };
}

/**
 * An expression of PowerShell whose value is this text, in ASCII and in one line. A typographic quote ends a literal in
 * PowerShell like a straight one.
 */
export function quoted(text: string): string {
  const parts = text.match(/[\x20-\x7e]+|[^\x20-\x7e]/g) ?? [];
  const words = parts.map((part) =>
    /^[\x20-\x7e]/.test(part) ? `'${part.replaceAll("'", "''")}'` : `[char]${part.charCodeAt(0)}`,
  );
  const [first = "''"] = words;
  // The text on the left makes the sum a text.
  return words.length === 1 && first.startsWith("'") ? first : `(${["''", ...words].join(' + ')})`;
}
