/**
 * The line that sets up OpenDSC's agent on Windows for this server, and the same as a script. It runs in Windows PowerShell
 * 5.1 and in PowerShell 7, so it uses nothing that only one of them has. It is ASCII, because 5.1 takes a file for ANSI.
 */

import type { JoinFacts, JoinLine } from './join-facts.ts';

/** Each statement ends with a semicolon, so that all can stand in one line. Lines of comment are for the script alone. */
const LINES = [
  "$ErrorActionPreference = 'Stop'; Set-StrictMode -Off; $again = ' Then run this again.';",
  "if ($env:OS -ne 'Windows_NT') { throw 'hawser: this is for Windows. For other machines make a line for sh.' };",
  "$admins = New-Object Security.Principal.SecurityIdentifier('S-1-5-32-544');",
  '$me = New-Object Security.Principal.WindowsPrincipal([Security.Principal.WindowsIdentity]::GetCurrent());',
  "if (-not $me.IsInRole($admins)) { throw ('hawser: this needs an administrator. Open PowerShell by Run as administrator.' + $again) };",
  'if ($note) { Write-Warning $note };',
  "$folder = Join-Path $env:ProgramData 'OpenDSC\\LCM'; $file = Join-Path $folder 'appsettings.json'; $kept = $file + '.before';",

  '# Reads what the agent has kept of its server: the address, and the id of the node once it is one.',
  '$read = { if (Test-Path -LiteralPath $file) { (ConvertFrom-Json ([IO.File]::ReadAllText($file))).LCM.PullServer } };',
  "try { $old = & $read } catch { throw ('hawser: ' + $file + ' is no JSON. Correct it or move it away.' + $again + ' ' + $_) };",
  '# A machine that is a node of this server already stays as it is.',
  "if ($old -and $old.NodeId -and ([string]$old.ServerUrl).TrimEnd('/') -eq $server) {",
  "Write-Output ('This machine is node ' + $old.NodeId + ' of ' + $server + ' already. Nothing was changed, and the key was not used.'); return };",
  'if (-not (Get-Service -Name OpenDscLcm -ErrorAction SilentlyContinue)) {',
  "throw ('hawser: the agent of OpenDSC is not installed. Install it, such as by: winget install OpenDsc.Lcm.' + $again) };",

  '# Gets the authority of the server, and compares its SHA-256. The connection is not trusted yet, so it is used for nothing else.',
  '# Where this line holds no fingerprint, the connection must be one that this machine trusts already.',
  "$allowed = if ($trust -eq 'system') { 0 } else { [int][Net.Security.SslPolicyErrors]::RemoteCertificateChainErrors };",
  '$accepts = { param($sender, $certificate, $chain, $faults) ([int]$faults -bor $allowed) -eq $allowed };',
  '$uri = New-Object Uri($server); $tcp = New-Object Net.Sockets.TcpClient;',
  'try { $tcp.Connect($uri.DnsSafeHost, $uri.Port); $tcp.ReceiveTimeout = 60000;',
  '$tls = New-Object Net.Security.SslStream($tcp.GetStream(), $false, [Net.Security.RemoteCertificateValidationCallback]$accepts);',
  '$tls.AuthenticateAsClient($uri.DnsSafeHost, $null, [Security.Authentication.SslProtocols]::Tls12, $false);',
  '$ask = [Text.Encoding]::ASCII.GetBytes("GET /api/v1/ca.pem HTTP/1.1`r`nHost: $($uri.Authority)`r`nConnection: close`r`n`r`n");',
  '$tls.Write($ask, 0, $ask.Length); $reply = (New-Object IO.StreamReader($tls, [Text.Encoding]::ASCII)).ReadToEnd() }',
  "catch { throw ('hawser: ' + $server + ' cannot be reached by TLS under this name. Correct this.' + $again + ' ' + $_) } finally { $tcp.Close() };",

  "if ($trust -eq 'system') { Write-Warning ('This holds no fingerprint of ' + $server + ': the authorities that this machine trusts decide.') } else {",
  "$pem = [regex]::Match($reply, '(?s)-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----');",
  "if (-not $pem.Success) { throw ('hawser: ' + $server + ' shows no authority. Ask for a new line.') };",
  '$ca = New-Object Security.Cryptography.X509Certificates.X509Certificate2(,[Convert]::FromBase64String($pem.Groups[1].Value));',
  "$found = [BitConverter]::ToString([Security.Cryptography.SHA256]::Create().ComputeHash($ca.RawData)) -replace '-', '';",
  "if ($found -ne $trust) { throw ('hawser: the authority of ' + $server + ' is not the one that this line trusts. Nothing was changed. Ask for a new line.') };",
  '# The agent trusts nothing but Cert:\\LocalMachine\\Root.',
  "$store = New-Object Security.Cryptography.X509Certificates.X509Store('Root', 'LocalMachine'); $store.Open('ReadWrite'); $store.Add($ca); $store.Close();",
  "Write-Output ('The authority of ' + $server + ' is in Cert:\\LocalMachine\\Root.') };",

  '# Writes the settings. The agent reads the key in the clear only, so SYSTEM (S-1-5-18) and Administrators (S-1-5-32-544) alone',
  '# may read folder and file before the key is in them.',
  "$protect = { param($path, $right) foreach ($words in @('/inheritance:r', '/grant:r', ('*S-1-5-18:' + $right), ('*S-1-5-32-544:' + $right)), @('/setowner', '*S-1-5-32-544')) {",
  "[void](icacls.exe $path $words); if ($LASTEXITCODE -ne 0) { throw ('hawser: icacls could not protect ' + $path + '. No key was written. Look who owns it.' + $again) } } };",
  "[void](New-Item -ItemType Directory -Force -Path $folder); & $protect $folder '(OI)(CI)F';",
  "$new = $file + '.new'; if (Test-Path -LiteralPath $new) { Remove-Item -LiteralPath $new -Force };",
  "[IO.File]::WriteAllText($new, ''); & $protect $new 'F'; [IO.File]::WriteAllText($new, $settings);",
  'Stop-Service -Name OpenDscLcm -Force;',
  '# What stood there before is kept once. A later run does not replace it by settings of this line.',
  "if ((Test-Path -LiteralPath $file) -and -not (Test-Path -LiteralPath $kept)) { Move-Item -LiteralPath $file -Destination $kept; Write-Output ('The settings that were there are in ' + $kept) };",
  'Move-Item -LiteralPath $new -Destination $file -Force;',
  "Set-Service -Name OpenDscLcm -StartupType Automatic; Start-Service -Name OpenDscLcm; Write-Output 'The service OpenDscLcm runs, and registers this machine.';",
  "if (-not (Get-Command -Name dsc -ErrorAction SilentlyContinue)) { Write-Warning 'dsc is not found, and the agent needs it: winget install Microsoft.DSC' };",

  '# The agent writes the id of the node into its settings when it has registered.',
  'for ($i = 0; $i -lt 60; $i++) { Start-Sleep -Seconds 1; try { $now = & $read } catch { $now = $null };',
  "if ($now -and $now.NodeId) { Write-Output ('This machine is node ' + $now.NodeId + ' of ' + $server + '.'); return } };",
  "throw 'hawser: the agent has not registered within a minute. This shows why: Get-WinEvent -ProviderName OpenDsc.Lcm -MaxEvents 20. If the key was refused, ask for a line with another key, and run that.'",
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
    script: `# Sets up the agent of OpenDSC on this Windows machine for a server of Hawser. Run it as administrator:
#   powershell -ExecutionPolicy Bypass -File join.ps1
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
  if (/^[\x20-\x7e]*$/.test(text)) return literal(text);
  const parts = text.match(/[\x20-\x7e]+|[^\x20-\x7e]/g) ?? [];
  const words = parts.map((part) =>
    /^[\x20-\x7e]/.test(part) ? literal(part) : `[char]${part.charCodeAt(0)}`,
  );
  // The text on the left makes the sum a text.
  return `('' + ${words.join(' + ')})`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
